// Input files that are named on the command line.
#pragma once

#include <fstream>
#include <optional>
#include <string>

namespace dutiful {

// The contents of a file; `-` is standard input. Throws UsageError if it cannot be read.
[[nodiscard]] std::string read_input(const std::string& path);

// A file of any length, read from its beginning; `-` is standard input.
class InputStream {
 public:
  // Throws UsageError.
  explicit InputStream(const std::string& path);
  [[nodiscard]] std::istream& get();

 private:
  std::optional<std::ifstream> file_;
};

// The file's name in messages.
[[nodiscard]] std::string name_of_input(const std::string& path);

}  // namespace dutiful
