// Files that only the user who runs dutiful may use.
#pragma once

#include <stdexcept>
#include <string>

#include <sys/types.h>

#include "posix/descriptor.h"

namespace dutiful {

// A file that cannot be used, such as a directory or a pipe in its place.
class FileError : public std::runtime_error {
 public:
  // The description says what is wrong with the file and what to do; what() also names the file.
  FileError(std::string path, std::string description);
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] const std::string& description() const noexcept { return description_; }

 private:
  std::string path_;
  std::string description_;
};

// A file that must not be used, because another user may have put it there (RULES V,
// AccessRefused).
class FileRefused : public FileError {
 public:
  FileRefused(std::string path, std::string description, std::string reason, std::string who);
  [[nodiscard]] const std::string& reason() const noexcept { return reason_; }
  [[nodiscard]] const std::string& who() const noexcept { return who_; }  // its owner

 private:
  std::string reason_;
  std::string who_;
};

struct PrivateFile {
  Descriptor descriptor{};
  bool made = false;  // it did not exist before
  int error = 0;      // why the descriptor is not open, as errno has it
};

// These functions accept only a regular file of the effective user. They throw FileRefused for a
// symbolic link and for a file of another user, and FileError for anything else that is not a
// regular file. They never follow a link in the last part of the path. Files that they make have
// mode 0600, whatever the umask is.
//
// Otherwise a user who can write to the directory could make dutiful write to a file of their
// choice, or name the processes that it kills; and a user who can read a file could lock it, and so
// block dutiful.

// What is required of a file that exists.
enum class Demand {
  ours,        // it belongs to the effective user; its mode is left unchanged
  ours_alone,  // also, it has no other hard link (or FileRefused); it gets mode 0600
};

// Opens the file, or makes it if it does not exist. `flags` are those of open(2).
[[nodiscard]] PrivateFile open_or_make_private(const std::string& path,
                                               int flags,
                                               Demand demand = Demand::ours_alone);
// Opens the file.
[[nodiscard]] PrivateFile open_private(const std::string& path,
                                       int flags,
                                       Demand demand = Demand::ours_alone);
// Makes the file; one that exists is replaced.
[[nodiscard]] PrivateFile make_private_anew(const std::string& path, int flags);

// Checks a file that another library opens, or that is open already; does nothing if it does not
// exist. Opens no descriptor whose closing would release the locks of this process on the file.
void check_private(const std::string& path, Demand demand);
// The same for an open file.
void check_private(const std::string& path, int descriptor, Demand demand);

// The name of a user; "user 1234" if there is none.
[[nodiscard]] std::string user_name(uid_t user);

}  // namespace dutiful
