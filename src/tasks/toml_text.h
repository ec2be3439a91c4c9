// Text as TOML.
#pragma once

#include <string>
#include <string_view>

namespace dutiful {

// The text as a string on one line, in the quotes that need fewer escapes. Requires UTF-8.
[[nodiscard]] std::string toml_string(std::string_view text);

// The text as a key: bare if possible, otherwise a string.
[[nodiscard]] std::string toml_key(std::string_view text);

// The text as a comment of one line; characters that a comment may not contain are escaped.
[[nodiscard]] std::string toml_comment(std::string_view text);

}  // namespace dutiful
