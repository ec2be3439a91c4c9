#include "cli/input_file.h"

#include <array>
#include <cerrno>
#include <filesystem>
#include <iostream>
#include <memory>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

#include "cli/command_line.h"
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
  const int file = path == "-" ? STDIN_FILENO : open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) fail(path, errno);
  const auto close_file = [](const int* descriptor) {
    if (*descriptor != STDIN_FILENO) close(*descriptor);
  };
  const std::unique_ptr<const int, decltype(close_file)> closing{&file, close_file};

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
