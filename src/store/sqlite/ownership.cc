#include "store/sqlite/ownership.h"

#include <cerrno>
#include <chrono>
#include <cstring>

#include <fcntl.h>
#include <unistd.h>

#include <dutiful/errors.h>

#include "store/sqlite/holder.h"

namespace dutiful {
namespace {

void write_holder(int descriptor) {
  const std::string text =
      to_text({.process = getpid(),
               .since = std::chrono::floor<Duration>(std::chrono::system_clock::now()),
               .host = host_name()});
  // Only a courtesy to whoever finds the lock taken: that it is held is what counts.
  if (ftruncate(descriptor, 0) == 0) {
    [[maybe_unused]] const ssize_t written = pwrite(descriptor, text.data(), text.size(), 0);
  }
}

}  // namespace

Ownership::Ownership(const std::string& state) {
  const std::string path = owner_file_of(state);
  descriptor_ = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (descriptor_ < 0) {
    throw StoreError(state,
                     "cannot be locked: " + path + ": " + std::strerror(errno) +
                         "; check that its directory exists and may be written");
  }
  // Belongs to what was opened, as that of flock() does, but others can ask for it and take none.
  struct flock whole {
    .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 0, .l_pid = 0
  };
  if (fcntl(descriptor_, F_OFD_SETLK, &whole) != 0) {
    const int error = errno;
    const auto holder = read_holder(descriptor_);
    close(descriptor_);
    if (error == EAGAIN || error == EACCES) {
      throw StateHeldError(state, holder ? to_text(*holder) : "another process");
    }
    throw StoreError(state, "cannot be locked: " + path + ": " + std::strerror(error));
  }
  write_holder(descriptor_);
}

Ownership::~Ownership() {
  // Only who is killed leaves its name behind.
  [[maybe_unused]] const int cleared = ftruncate(descriptor_, 0);
  close(descriptor_);
}

}  // namespace dutiful
