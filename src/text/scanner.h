// Reads short formats from the left.
#pragma once

#include <cstddef>
#include <string_view>

#include "text/characters.h"

namespace dutiful {

// Each read consumes what it expects and returns whether it was there. After a false the caller
// must reject the whole text.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : rest_(text) {}

  [[nodiscard]] bool at_end() const { return rest_.empty(); }

  bool read(char expected) {
    if (rest_.empty() || rest_.front() != expected) return false;
    rest_.remove_prefix(1);
    return true;
  }

  // The longest prefix of characters for which `wanted` is true.
  template <typename Predicate>
  std::string_view read_while(Predicate wanted) {
    std::size_t length = 0;
    while (length < rest_.size() && wanted(rest_[length])) ++length;
    const std::string_view taken = rest_.substr(0, length);
    rest_.remove_prefix(length);
    return taken;
  }

  // A decimal number with a number of digits and a value in these ranges.
  struct Digits {
    int min, max;
  };
  struct Range {
    int min, max;
  };
  bool read_number(Digits digits, Range range, int& value) {
    int count = 0;
    for (value = 0; count < digits.max && !rest_.empty() && is_digit(rest_.front()); ++count) {
      value = value * 10 + (rest_.front() - '0');
      rest_.remove_prefix(1);
    }
    return count >= digits.min && value >= range.min && value <= range.max;
  }

 private:
  std::string_view rest_;
};

}  // namespace dutiful
