// Files that are named on the command line.
#pragma once

#include <fstream>
#include <optional>
#include <string>

namespace dutiful {

// What a file holds; `-` is standard input. Throws UsageError, which says why it cannot be read.
[[nodiscard]] std::string read_input(const std::string& path);

// A file of any length, to be read from the beginning; `-` is standard input.
class InputStream {
 public:
  // Throws UsageError.
  explicit InputStream(const std::string& path);
  [[nodiscard]] std::istream& get();

 private:
  std::optional<std::ifstream> file_;
};

// How messages name it.
[[nodiscard]] std::string name_of_input(const std::string& path);

}  // namespace dutiful
