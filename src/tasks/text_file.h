// A file as text.
#pragma once

#include <string>

namespace dutiful {

// Throws std::system_error, whose what() names the file.
[[nodiscard]] std::string read_text_file(const std::string& path);

}  // namespace dutiful
