#include "tasks/text_file.h"

#include <array>
#include <cerrno>
#include <system_error>

#include <fcntl.h>

#include "tasks/descriptor.h"

namespace dutiful {

std::string read_text_file(const std::string& path) {
  const auto fail = [&] {
    throw std::system_error(errno, std::generic_category(), "cannot read " + path);
  };
  const Descriptor file{open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (!file.is_open()) fail();
  std::string text;
  std::array<char, 65536> chunk{};
  ssize_t size = 0;
  while ((size = read(file.get(), chunk.data(), chunk.size())) != 0) {
    if (size > 0) {
      text.append(chunk.data(), static_cast<std::size_t>(size));
    } else if (errno != EINTR) {
      fail();
    }
  }
  return text;
}

}  // namespace dutiful
