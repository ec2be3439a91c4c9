// Text as TOML.
#pragma once

#include <string>
#include <string_view>

namespace dutiful {

// The text as a string on one line, in the quotes that need fewer escapes. Requires UTF-8.
[[nodiscard]] std::string toml_string(std::string_view text);

// The text as a key: bare where it can be, else a string.
[[nodiscard]] std::string toml_key(std::string_view text);

// The text as a comment of one line; what may not stand in one is escaped.
[[nodiscard]] std::string toml_comment(std::string_view text);

}  // namespace dutiful
