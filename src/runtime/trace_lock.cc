#include "runtime/trace_lock.h"

#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>

#include <dutiful/errors.h>

#include "files/private_file.h"
#include "posix/file_identity.h"
#include "sync/try_again.h"

namespace dutiful {
namespace {

Descriptor open_trace_file(const std::string& path) {
  try {
    PrivateFile file = open_or_make_private(path, O_RDWR | O_APPEND, Demand::ours);
    if (file.descriptor.is_open()) return std::move(file.descriptor);
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

}  // namespace

Descriptor open_locked_trace(const std::string& file) {
  // Whoever held the file may have set it aside while this one waited for the lock.
  constexpr int tries_max = 10;
  for (int tries = 1; tries <= tries_max; ++tries) {
    Descriptor descriptor = open_trace_file(file);
    const int error = lock(descriptor.get());
    if (error == 0 && is_at(file, descriptor.get())) return descriptor;
    if (error == EWOULDBLOCK) {
      throw TraceError(file,
                       "is in use by another scheduler; stop that one first, or use another file");
    }
    if (error != 0) {
      throw TraceError(file, std::string{"cannot be locked: "} + std::strerror(error));
    }
  }
  throw TraceError(file, "was replaced repeatedly while it was being opened; use another file");
}

}  // namespace dutiful
