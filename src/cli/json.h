// JSON as text.
#pragma once

#include <iosfwd>
#include <string>

#include <nlohmann/json_fwd.hpp>

namespace dutiful {

// The document on one line. Bytes that are not UTF-8 cannot stand in JSON; U+FFFD takes their
// place.
[[nodiscard]] std::string to_text(const nlohmann::ordered_json& document);

// An array on one line, printed as its elements come: there may be more than memory is good for.
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
