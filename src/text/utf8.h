// Recognizes UTF-8.
#pragma once

#include <cstddef>
#include <string_view>

namespace dutiful {

// The length of the UTF-8 character at the beginning of the text, or 0 if there is none. Overlong
// forms, surrogates and code points beyond U+10FFFF are not UTF-8 (RFC 3629).
[[nodiscard]] std::size_t utf8_length(std::string_view text);

// The code point of one character. Requires it to be UTF-8.
[[nodiscard]] char32_t utf8_code(std::string_view character);

// The offset of the first byte that is not UTF-8; npos if there is none.
[[nodiscard]] std::size_t find_not_utf8(std::string_view text);

}  // namespace dutiful
