// Whether a path still leads to the file that is open.
#pragma once

#include <compare>
#include <optional>
#include <string>

#include <sys/types.h>

namespace dutiful {

// No two files that exist at the same time share it. A removed file's identity may be given to
// another, unless a descriptor keeps the first one in existence.
struct FileIdentity {
  dev_t device = 0;
  ino_t inode = 0;

  // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 takes the comparison with 0 for a pointer.
  friend auto operator<=>(const FileIdentity&, const FileIdentity&) = default;
};

// The identity of what the path names, which is the link itself if it names one. Nothing if there
// is no such file, or if it may not be looked at.
[[nodiscard]] std::optional<FileIdentity> identity_of(const std::string& path) noexcept;
// The identity of an open file. Nothing if the descriptor is not open.
[[nodiscard]] std::optional<FileIdentity> identity_of(int descriptor) noexcept;

// Whether the path names the open file. False if there is no such path or descriptor.
[[nodiscard]] bool is_at(const std::string& path, int descriptor) noexcept;

}  // namespace dutiful
