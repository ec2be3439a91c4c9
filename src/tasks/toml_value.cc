#include "tasks/toml_value.h"

#include <array>
#include <charconv>
#include <sstream>

#include "text/quote.h"

namespace dutiful {

Place place_of(const toml::source_region& source) {
  return {.line = source.begin.line, .column = source.begin.column};
}

std::string describe(const toml::node& node) {
  if (const auto* string = node.as_string()) return "the string " + quote(string->get());
  if (const auto* integer = node.as_integer())
    return "the integer " + std::to_string(integer->get());
  if (const auto* boolean = node.as_boolean())
    return std::string{"the boolean "} + (boolean->get() ? "true" : "false");
  if (node.is_floating_point()) return "a floating-point number";
  if (node.is_array()) return "an array";
  if (node.is_table()) return "a table";
  return node.is_time() ? "a time" : "a date";
}

std::string text_of(const toml::node& node) {
  if (const auto* string = node.as_string()) return string->get();
  if (const auto* integer = node.as_integer()) return std::to_string(integer->get());
  if (const auto* boolean = node.as_boolean()) return boolean->get() ? "true" : "false";
  std::ostringstream out;
  if (const auto* number = node.as_floating_point()) {
    std::array<char, 32> text{};  // as the shortest form of any double
    out.write(text.data(),
              std::to_chars(text.begin(), text.end(), number->get()).ptr - text.data());
  } else if (const auto* date = node.as_date()) {
    out << date->get();
  } else if (const auto* time = node.as_time()) {
    out << time->get();
  } else if (const auto* moment = node.as_date_time()) {
    out << moment->get();
  } else {
    out << describe(node);
  }
  return out.str();
}

std::string text_of_keys(const toml::table& table) {
  if (table.empty()) return "an empty table";
  std::string keys;
  for (const auto& [key, value] : table) keys.append(keys.empty() ? "" : ", ").append(key.str());
  return "a table with " + keys;
}

}  // namespace dutiful
