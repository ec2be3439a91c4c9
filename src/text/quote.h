// Text from outside, made fit to stand in a message.
#pragma once

#include <string>
#include <string_view>

namespace dutiful {

// The text in double quotes, on one line, whatever it holds: control characters, quotes,
// backslashes and bytes that are not UTF-8 are escaped as in C. A name can never forge a line
// (RULES V, X4).
[[nodiscard]] std::string quote(std::string_view text);

}  // namespace dutiful
