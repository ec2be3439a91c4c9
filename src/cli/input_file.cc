#include "cli/input_file.h"

#include <array>
#include <cerrno>
#include <filesystem>
#include <iostream>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

#include "cli/command_line.h"
#include "posix/descriptor.h"
#include "text/quote.h"

namespace dutiful {
namespace {

// More than any task file, crontab or scenario needs; stops reading from /dev/zero.
constexpr std::size_t input_max = 64UL * 1024 * 1024;

[[noreturn]] void fail(const std::string& path, int error) {
  throw UsageError("cannot read " + name_of_input(path) + ": " +
                   std::generic_category().message(error));
}

}  // namespace

std::string name_of_input(const std::string& path) {
  return path == "-" ? "standard input" : escape(path);
}

InputStream::InputStream(const std::string& path) {
  if (path == "-") return;
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) fail(path, EISDIR);
  file_.emplace(path);
  if (!*file_) fail(path, errno);
}

std::istream& InputStream::get() {
  return file_ ? *file_ : std::cin;
}

std::string read_input(const std::string& path) {
  Descriptor opened;
  int file = STDIN_FILENO;
  if (path != "-") {
    opened = Descriptor{open(path.c_str(), O_RDONLY | O_CLOEXEC)};
    if (!opened.is_open()) fail(path, errno);
    file = opened.get();
  }

  std::string text;
  std::array<char, 65536> part{};
  for (;;) {
    const ssize_t size = read(file, part.data(), part.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) fail(path, errno);
    if (size == 0) return text;
    text.append(part.data(), static_cast<std::size_t>(size));
    if (text.size() > input_max) {
      throw UsageError("cannot read " + name_of_input(path) + ": the file is larger than 64 MiB");
    }
  }
}

}  // namespace dutiful
