// A file that a command reads, or standard input.
#pragma once

#include <fstream>
#include <iosfwd>
#include <string>

namespace dutiful {

class Input {
 public:
  // `-` is standard input. Throws UsageError where the file cannot be read.
  explicit Input(const std::string& file);

  [[nodiscard]] std::istream& stream() const;

 private:
  mutable std::ifstream file_;
  bool is_standard_;
};

}  // namespace dutiful
