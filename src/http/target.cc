#include "http/target.h"

#include <algorithm>

#include "text/utf8.h"

namespace dutiful::http {
namespace {

int hexadecimal(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool is_space_or_control(char c) {
  return static_cast<unsigned char>(c) <= ' ' || c == '\x7f';
}

Target refused(std::string error) {
  return {.error = std::move(error)};
}

// Removes and returns the text before the separator, or all of it.
std::string_view take_until(std::string_view& text, char separator) {
  const std::size_t end = text.find(separator);
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return part;
}

}  // namespace

std::optional<std::string> decode_percent(std::string_view text, Plus plus) {
  std::string decoded;
  decoded.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '%') {
      if (text.size() - i < 3) return {};
      const int high = hexadecimal(text[i + 1]);
      const int low = hexadecimal(text[i + 2]);
      if (high < 0 || low < 0) return {};
      c = static_cast<char>(high * 16 + low);
      i += 2;
    } else if (c == '+' && plus == Plus::space) {
      c = ' ';
    }
    if (c == '\0') return {};
    decoded += c;
  }
  if (find_not_utf8(decoded) != std::string::npos) return {};
  return decoded;
}

Target parse_target(std::string_view text, std::size_t parameters_max) {
  if (!text.starts_with('/')) return refused("the request target must be a path");
  if (std::ranges::any_of(text, is_space_or_control)) {
    return refused("the request target must not contain spaces or control characters");
  }
  Target target;
  std::string_view path = take_until(text, '?');
  target.path = path;

  path.remove_prefix(1);
  // "/" has no segment, and "/tasks/" has two, of which the second is empty.
  for (bool more = !path.empty(); more;) {
    more = path.find('/') != std::string_view::npos;
    auto segment = decode_percent(take_until(path, '/'), Plus::itself);
    if (!segment) return refused("the path cannot be decoded");
    if (*segment == "." || *segment == "..") return refused("the path must not contain . or ..");
    target.segments.push_back(std::move(*segment));
  }

  while (!text.empty()) {
    std::string_view pair = take_until(text, '&');
    if (pair.empty()) continue;
    if (target.query.size() == parameters_max) {
      return refused("the query has more than " + std::to_string(parameters_max) + " parameters");
    }
    auto name = decode_percent(take_until(pair, '='), Plus::space);
    auto value = decode_percent(pair, Plus::space);
    if (!name || !value) return refused("the query cannot be decoded");
    target.query.push_back({.name = std::move(*name), .value = std::move(*value)});
  }
  return target;
}

}  // namespace dutiful::http
