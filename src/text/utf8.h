// UTF-8, and what is none.
#pragma once

#include <cstddef>
#include <string_view>

namespace dutiful {

// The length of the UTF-8 character that the text begins with, 0 where it begins with none.
// Overlong forms, surrogates and what lies beyond U+10FFFF are none (RFC 3629).
[[nodiscard]] std::size_t utf8_length(std::string_view text);

// The code point of one character. Requires it to be UTF-8.
[[nodiscard]] char32_t utf8_code(std::string_view character);

// Where the first byte lies that is no UTF-8; npos where all is.
[[nodiscard]] std::size_t find_not_utf8(std::string_view text);

}  // namespace dutiful
