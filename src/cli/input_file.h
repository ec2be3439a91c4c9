// Files that are named on the command line.
#pragma once

#include <string>

namespace dutiful {

// What a file holds; `-` is standard input. Throws UsageError, which says why it cannot be read.
[[nodiscard]] std::string read_input(const std::string& path);

// How messages name it.
[[nodiscard]] std::string name_of_input(const std::string& path);

}  // namespace dutiful
