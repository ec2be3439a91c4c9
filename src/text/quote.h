// Makes text from outside safe for messages.
#pragma once

#include <string>
#include <string_view>

namespace dutiful {

// The text on one line: control characters, backslashes and bytes that are not UTF-8 are escaped as
// in C. Text from outside can never forge a line (RULES V, X4).
[[nodiscard]] std::string escape(std::string_view text);

// A value for a message: escaped, and cut after at most 200 bytes (RULES E), between characters. A
// value that was cut is followed by its length: aaaa… (1500 bytes).
[[nodiscard]] std::string show(std::string_view value);

// The same in quotes, with quotes inside it escaped: "aaaa…" (1500 bytes).
[[nodiscard]] std::string quote(std::string_view value, char mark = '"');

// A message on one line, of which escape() or quote() has already escaped parts: control characters
// are escaped, but backslashes are not.
[[nodiscard]] std::string on_one_line(std::string_view message);

// The text as a JSON string, including its quotes: control characters are \uNNNN, everything else
// is unchanged. JSON cannot contain bytes that are not UTF-8: they are `shown` as \\xNN, as by
// escape(), or `kept` for a reader that restores them, as the lone surrogate \udcNN, which no UTF-8
// encodes.
enum class InvalidBytes { shown, kept };
[[nodiscard]] std::string json_string(std::string_view text,
                                      InvalidBytes invalid = InvalidBytes::shown);
void append_json_string(std::string& out,
                        std::string_view text,
                        InvalidBytes invalid = InvalidBytes::shown);

// A JSON text on one line from another library, with its control characters as \uNNNN. The document
// stays the same. Requires UTF-8.
[[nodiscard]] std::string escape_json(std::string_view json);

}  // namespace dutiful
