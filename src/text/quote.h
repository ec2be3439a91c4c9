// Text from outside, made fit to stand in a message.
#pragma once

#include <string>
#include <string_view>

namespace dutiful {

// The text on one line, whatever it holds: control characters, backslashes and bytes that are not
// UTF-8 are escaped as in C. Text from outside can never forge a line (RULES V, X4).
[[nodiscard]] std::string escape(std::string_view text);

// A value for a message: escaped, and cut after 200 bytes (RULES E), between characters; what was
// cut says how long it is: aaaa… (1500 bytes).
[[nodiscard]] std::string show(std::string_view value);

// The same in quotes, and those inside it escaped: "aaaa…" (1500 bytes).
[[nodiscard]] std::string quote(std::string_view value, char mark = '"');

// A message of ours on one line: what would forge another is escaped, but no backslash, so what
// escape() and quote() have done to parts of it stands.
[[nodiscard]] std::string on_one_line(std::string_view message);

// The text as a JSON string, quotes and all: controls are \uNNNN, everything else stands as it is.
// JSON has no bytes that are not UTF-8: they are shown as \\xNN, as escape() would; or kept, for
// who reads the text back, as the half of a surrogate pair \udcNN, which no UTF-8 is written as.
enum class InvalidBytes { shown, kept };
[[nodiscard]] std::string json_string(std::string_view text,
                                      InvalidBytes invalid = InvalidBytes::shown);

// A JSON text on one line that somebody else has written, with its controls as \uNNNN. The document
// is the same. Requires UTF-8.
[[nodiscard]] std::string escape_json(std::string_view json);

}  // namespace dutiful
