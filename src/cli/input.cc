#include "cli/input.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iostream>

#include "cli/commands.h"
#include "text/quote.h"

namespace dutiful {

Input::Input(const std::string& file) : is_standard_(file == "-") {
  if (is_standard_) return;
  std::error_code error;
  if (std::filesystem::is_directory(file, error)) {
    throw UsageError("cannot read " + quote(file) + ": it is a directory");
  }
  file_.open(file);
  if (!file_) throw UsageError("cannot read " + quote(file) + ": " + std::strerror(errno));
}

std::istream& Input::stream() const {
  return is_standard_ ? std::cin : file_;
}

}  // namespace dutiful
