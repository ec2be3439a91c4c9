#include "tasks/toml_guard.h"

#include <algorithm>
#include <string>

#include "text/quote.h"
#include "text/utf8.h"

namespace dutiful {
namespace {

// The length of the string that the text begins with, including its quotes. An unterminated string
// is a syntax error and extends to the end of its line or of the text.
std::size_t string_length(std::string_view text) {
  const char quote = text[0];
  const bool multiline = text.starts_with(R"(""")") || text.starts_with("'''");
  const std::string_view end = text.substr(0, multiline ? 3 : 1);
  for (std::size_t i = end.size(); i < text.size(); ++i) {
    if (text[i] == '\\' && quote == '"') {
      ++i;
    } else if (text[i] == '\n' && !multiline) {
      return i;
    } else if (text.substr(i).starts_with(end)) {
      i += end.size();
      // Up to two quotes before the closing three belong to the string.
      for (int more = 0; multiline && more < 2 && i < text.size() && text[i] == quote; ++more) ++i;
      return i;
    }
  }
  return text.size();
}

// The offset at which a key has one part too many; npos if no key does.
std::size_t find_long_key(std::string_view text) {
  int parts = 1;
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (c == '#') {
      i = std::min(text.find('\n', i), text.size());
      continue;
    }
    if (c == '"' || c == '\'') {
      i += string_length(text.substr(i));
      continue;
    }
    if (c == '.' && ++parts > nesting_max) return i;
    if (std::string_view{"\n=,[]{}"}.find(c) != std::string_view::npos) parts = 1;
    ++i;
  }
  return std::string_view::npos;
}

}  // namespace

std::optional<Problem> guard_toml(std::string_view text) {
  if (const std::size_t offset = find_not_utf8(text); offset != std::string_view::npos) {
    return Problem{.place = place_at(text, offset),
                   .message = "byte " + escape(text.substr(offset, 1)) +
                              " is not UTF-8; save the file as UTF-8"};
  }
  if (const std::size_t offset = find_long_key(text); offset != std::string_view::npos) {
    return Problem{.place = place_at(text, offset),
                   .message = "keys nest too deeply; a task file needs no more than three levels"};
  }
  return std::nullopt;
}

}  // namespace dutiful
