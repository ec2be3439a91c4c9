#include "posix/file_identity.h"

#include <sys/stat.h>

namespace dutiful {

std::optional<FileIdentity> identity_of(const std::string& path) noexcept {
  struct stat status {};
  if (lstat(path.c_str(), &status) != 0) return std::nullopt;
  return FileIdentity{.device = status.st_dev, .inode = status.st_ino};
}

std::optional<FileIdentity> identity_of(int descriptor) noexcept {
  struct stat status {};
  if (fstat(descriptor, &status) != 0) return std::nullopt;
  return FileIdentity{.device = status.st_dev, .inode = status.st_ino};
}

bool is_at(const std::string& path, int descriptor) noexcept {
  const auto open_file = identity_of(descriptor);
  return open_file && identity_of(path) == open_file;
}

}  // namespace dutiful
