#include "tasks/toml_text.h"

#include <algorithm>

#include "text/characters.h"
#include "text/quote.h"

namespace dutiful {
namespace {

bool is_control(char c) {
  return (c >= 0 && c < ' ') || c == '\x7f';
}

}  // namespace

std::string toml_string(std::string_view text) {
  const bool has_apostrophe = text.find('\'') != std::string_view::npos;
  const bool needs_escape = text.find_first_of("\"\\") != std::string_view::npos;
  if (needs_escape && !has_apostrophe && std::ranges::none_of(text, is_control))
    return '\'' + std::string{text} + '\'';

  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out.append("\\") += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (is_control(c)) {
      const auto byte = static_cast<unsigned char>(c);
      out.append("\\u00").append({digits[byte >> 4], digits[byte & 15]});
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string toml_key(std::string_view text) {
  const bool bare = !text.empty() && std::ranges::all_of(text, [](char c) {
    return is_letter(c) || is_digit(c) || c == '_' || c == '-';
  });
  return bare ? std::string{text} : toml_string(text);
}

std::string toml_comment(std::string_view text) {
  // Not escape() for all of it: a comment can contain backslashes and tabs as they are.
  std::string out = "#";
  if (!text.empty()) out += ' ';
  while (!text.empty()) {
    const auto end = std::min(text.find_first_of("\\\t"), text.size());
    out += escape(text.substr(0, end));
    if (end < text.size()) out += text[end];
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

}  // namespace dutiful
