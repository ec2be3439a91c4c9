// JSON as text.
#pragma once

#include <iosfwd>
#include <string>

#include <nlohmann/json_fwd.hpp>

namespace dutiful {

// The document on one line. Bytes that are not UTF-8 are replaced by U+FFFD, because JSON cannot
// contain them.
[[nodiscard]] std::string to_text(const nlohmann::ordered_json& document);

// Prints an array on one line, element by element, because it may not fit into memory.
class ArrayPrinter {
 public:
  explicit ArrayPrinter(std::ostream& out) : out_(out) {}
  void print(const nlohmann::ordered_json& element);
  void finish();

 private:
  std::ostream& out_;
  bool printed_ = false;
};

}  // namespace dutiful
