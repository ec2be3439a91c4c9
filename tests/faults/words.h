// What a victim says (victim.cc), read.
#pragma once

#include <sstream>
#include <string>
#include <vector>

namespace dutiful::faults {

using Words = std::vector<std::string>;  // lines, in the order in which they were said

// A line's first word, and those that follow.
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
