#include "files/private_file.h"

#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "text/quote.h"

namespace dutiful {
namespace {

constexpr mode_t private_mode = S_IRUSR | S_IWUSR;
constexpr mode_t permissions = 07777;

// How often a file may appear and disappear between two calls.
constexpr int changes_max = 1000;

bool is_private(const struct stat& status) {
  return (status.st_mode & permissions) == private_mode;
}

void refuse(const std::string& path, const struct stat& status, Demand demand) {
  if (S_ISLNK(status.st_mode)) {
    throw FileRefused(path,
                      "is a symbolic link, which is not followed; put the file itself in its "
                      "place, or remove it",
                      "the file is a symbolic link",
                      user_name(status.st_uid));
  }
  if (S_ISDIR(status.st_mode)) throw FileError(path, "is a directory; move it away");
  if (S_ISCHR(status.st_mode) || S_ISBLK(status.st_mode)) {
    throw FileError(path, "is a device; use a regular file");
  }
  if (!S_ISREG(status.st_mode)) throw FileError(path, "is not a regular file; remove it");
  if (status.st_uid != geteuid()) {
    const std::string owner = user_name(status.st_uid);
    throw FileRefused(path,
                      "belongs to " + owner + ", and dutiful runs as " + user_name(geteuid()) +
                          "; run it as " + owner + ", or move the file away",
                      "the file belongs to another user",
                      owner);
  }
  if (demand == Demand::ours_alone && status.st_nlink > 1) {
    throw FileRefused(path,
                      "has several names (hard links), so that writing to it would change another "
                      "file; remove it",
                      "the file has several names (hard links)",
                      user_name(status.st_uid));
  }
}

[[noreturn]] void fail_to_tighten(const std::string& path, int error) {
  throw FileError(path,
                  std::string{"cannot be given mode 0600: "} + std::strerror(error) +
                      "; use a file system with permissions");
}

// It could not be opened. Throws if the file that is there explains it.
PrivateFile failed(const std::string& path, int error) {
  struct stat status {};
  if (lstat(path.c_str(), &status) == 0) refuse(path, status, Demand::ours);
  return {.error = error};
}

PrivateFile make(const std::string& path, int flags) {
  Descriptor descriptor{
      open(path.c_str(), flags | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, private_mode)};
  if (!descriptor.is_open()) return {.error = errno};
  if (fchmod(descriptor.get(), private_mode) != 0) {  // the umask may have removed more
    const int error = errno;
    unlink(path.c_str());
    fail_to_tighten(path, error);
  }
  return {.descriptor = std::move(descriptor), .made = true};
}

}  // namespace

FileError::FileError(std::string path, std::string description)
    : std::runtime_error(quote(path) + ' ' + description),
      path_(std::move(path)),
      description_(std::move(description)) {}

FileRefused::FileRefused(std::string path,
                         std::string description,
                         std::string reason,
                         std::string who)
    : FileError(std::move(path), std::move(description)),
      reason_(std::move(reason)),
      who_(std::move(who)) {}

PrivateFile open_private(const std::string& path, int flags, Demand demand) {
  // Without O_NONBLOCK, a pipe in its place would block until somebody opens its other end.
  Descriptor descriptor{open(path.c_str(), flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)};
  if (!descriptor.is_open()) return failed(path, errno);
  check_private(path, descriptor.get(), demand);
  return {.descriptor = std::move(descriptor)};
}

PrivateFile open_or_make_private(const std::string& path, int flags, Demand demand) {
  for (int changes = 0;; ++changes) {
    PrivateFile file = make(path, flags);
    if (file.error != EEXIST) return file;
    file = open_private(path, flags, demand);
    if (file.error != ENOENT || changes == changes_max) return file;
  }
}

PrivateFile make_private_anew(const std::string& path, int flags) {
  for (int changes = 0;; ++changes) {
    PrivateFile file = make(path, flags);
    if (file.error != EEXIST || changes == changes_max) return file;
    check_private(path, Demand::ours);
    if (unlink(path.c_str()) != 0 && errno != ENOENT) return {.error = errno};
  }
}

void check_private(const std::string& path, int descriptor, Demand demand) {
  struct stat status {};
  if (fstat(descriptor, &status) != 0) {
    throw FileError(path, std::string{"cannot be inspected: "} + std::strerror(errno));
  }
  refuse(path, status, demand);
  if (demand == Demand::ours || is_private(status)) return;
  // fchmod() does not accept a descriptor of O_PATH; this does the same.
  const std::string name = "/proc/self/fd/" + std::to_string(descriptor);
  if (fchmod(descriptor, private_mode) == 0) return;
  if (errno != EBADF || chmod(name.c_str(), private_mode) != 0) fail_to_tighten(path, errno);
}

void check_private(const std::string& path, Demand demand) {
  struct stat status {};
  if (lstat(path.c_str(), &status) != 0) {
    if (errno == ENOENT) return;
    throw FileError(path, std::string{"cannot be inspected: "} + std::strerror(errno));
  }
  refuse(path, status, demand);
  if (demand == Demand::ours || is_private(status)) return;
  const Descriptor descriptor{open(path.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC)};
  if (!descriptor.is_open()) {
    if (errno == ENOENT) return;
    fail_to_tighten(path, errno);
  }
  check_private(path, descriptor.get(), demand);  // it may have been replaced
}

std::string user_name(uid_t user) {
  const std::string number = "user " + std::to_string(user);
  std::vector<char> texts(1024);
  passwd entry{};
  passwd* found = nullptr;
  while (getpwuid_r(user, &entry, texts.data(), texts.size(), &found) == ERANGE) {
    texts.resize(2 * texts.size());
  }
  return found != nullptr ? escape(found->pw_name) : number;
}

}  // namespace dutiful
