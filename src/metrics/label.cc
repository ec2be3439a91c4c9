#include "metrics/label.h"

#include <algorithm>
#include <cstddef>

#include "text/quote.h"
#include "text/utf8.h"

namespace dutiful {
namespace {

void append_escaped(std::string& out, std::string_view text) {
  for (const char c : text) {
    if (c == '\n') {
      out.append("\\n");
      continue;
    }
    if (c == '\\' || c == '"') out.push_back('\\');
    out.push_back(c);
  }
}

}  // namespace

std::string label(std::string_view name, std::string_view value) {
  std::string out{name};
  out.append("=\"");
  while (!value.empty()) {
    const std::size_t length = std::max<std::size_t>(utf8_length(value), 1);
    const std::string_view character = value.substr(0, length);
    value.remove_prefix(length);
    // escape() also escapes backslashes and newlines, which the format can express itself.
    const bool shown = character != "\\" && character != "\n";
    append_escaped(out, shown ? escape(character) : std::string{character});
  }
  return out.append("\"");
}

}  // namespace dutiful
