// The lines that a victim prints (victim.cc).
#pragma once

#include <sstream>
#include <string>
#include <vector>

namespace dutiful::faults {

using Words = std::vector<std::string>;  // lines, in order

// The first word of a line and the others.
struct Line {
  explicit Line(const std::string& text) {
    std::istringstream in{text};
    in >> verb;
    for (std::string word; in >> word;) rest.push_back(word);
  }
  [[nodiscard]] const std::string& word(std::size_t place) const { return rest.at(place); }
  [[nodiscard]] long long number(std::size_t place) const { return std::stoll(rest.at(place)); }

  std::string verb;
  std::vector<std::string> rest;
};

inline bool has(const Words& words, const std::string& verb) {
  for (const std::string& text : words) {
    if (Line{text}.verb == verb) return true;
  }
  return false;
}

}  // namespace dutiful::faults
