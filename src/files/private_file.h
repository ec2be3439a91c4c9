// Files that only the user who runs us may touch.
#pragma once

#include <stdexcept>
#include <string>

#include <sys/types.h>

#include "posix/descriptor.h"

namespace dutiful {

// What is in the place of a file cannot be used: a directory, a pipe.
class FileError : public std::runtime_error {
 public:
  // The description says what is wrong with the file, and what to do; the message also names it.
  FileError(std::string path, std::string description);
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] const std::string& description() const noexcept { return description_; }

 private:
  std::string path_;
  std::string description_;
};

// It may not be used, because somebody else may have put it there (RULES V, AccessRefused).
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
  bool made = false;  // there was none
  int error = 0;      // why there is no descriptor, as errno has it
};

// Each of these takes a regular file of the effective user, and throws FileRefused for a symbolic
// link or a file of another user, and FileError for what is no regular file. None follows a link in
// the last part of the path, and what they make has the mode 0600, whatever the umask is.
//
// Without these rules whoever may write to the directory could have us write to a file of his
// choice, or tell us what to kill, and whoever may read a file could lock it, and hold us up for as
// long as he likes.

// What is asked of a file that is there.
enum class Demand {
  ours,        // no more than that; its mode is left as it is
  ours_alone,  // it has no other name (hard link), or FileRefused; it gets the mode 0600
};

// Opens it, and makes it if there is none. `flags` are those of open(2).
[[nodiscard]] PrivateFile open_or_make_private(const std::string& path,
                                               int flags,
                                               Demand demand = Demand::ours_alone);
// Opens it.
[[nodiscard]] PrivateFile open_private(const std::string& path,
                                       int flags,
                                       Demand demand = Demand::ours_alone);
// Makes it, in the place of one that may be there.
[[nodiscard]] PrivateFile make_private_anew(const std::string& path, int flags);

// For a file that another library opens, or that is open already: looks at it, if it is there,
// without a descriptor whose closing would take away this process's locks on it.
void check_private(const std::string& path, Demand demand);
// The same for a descriptor of the file.
void check_private(const std::string& path, int descriptor, Demand demand);

// A user's name; "user 1234" where he has none.
[[nodiscard]] std::string user_name(uid_t user);

}  // namespace dutiful
