#include "runtime/trace_lock.h"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <dutiful/errors.h>

#include "files/private_file.h"
#include "sync/try_again.h"

namespace dutiful {
namespace {

int open_trace_file(const std::string& path) {
  try {
    const PrivateFile file = open_or_make_private(path, O_RDWR | O_APPEND);
    if (file.descriptor >= 0) return file.descriptor;
    throw TraceError(path,
                     std::string{"cannot be written: "} + std::strerror(file.error) +
                         "; check that its directory exists and may be written");
  } catch (const FileError& error) {
    throw TraceError(path, error.description(), std::current_exception());
  }
}

// Returns 0, or why it cannot be locked, as errno has it.
int lock(int descriptor) {
  int error = 0;
  (void)try_for_a_second([&] {
    error = flock(descriptor, LOCK_EX | LOCK_NB) == 0 ? 0 : errno;
    return error != EWOULDBLOCK;
  });
  return error;
}

// Whether the name still leads to the open file.
bool is_in_place(const std::string& file, int descriptor) {
  struct stat ours {};
  struct stat there {};
  return fstat(descriptor, &ours) == 0 && stat(file.c_str(), &there) == 0 &&
         ours.st_dev == there.st_dev && ours.st_ino == there.st_ino;
}

}  // namespace

int open_locked_trace(const std::string& file) {
  // Whoever held the file may have set it aside while this one waited for the lock.
  constexpr int tries_max = 10;
  for (int tries = 1; tries <= tries_max; ++tries) {
    const int descriptor = open_trace_file(file);
    const int error = lock(descriptor);
    if (error == 0 && is_in_place(file, descriptor)) return descriptor;
    close(descriptor);
    if (error == EWOULDBLOCK) {
      throw TraceError(file,
                       "is in use by another scheduler; stop that one first, or use another file");
    }
    if (error != 0) {
      throw TraceError(file, std::string{"cannot be locked: "} + std::strerror(error));
    }
  }
  throw TraceError(file, "is replaced again and again; use another file");
}

}  // namespace dutiful
