#include "store/sqlite/ownership.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <dutiful/errors.h>

#include "time/iso8601.h"

namespace dutiful {
namespace {

std::string read_holder(int descriptor) {
  std::array<char, 200> text{};
  const ssize_t size = pread(descriptor, text.data(), text.size(), 0);
  return size > 0 ? std::string{text.data(), static_cast<std::size_t>(size)} : "another process";
}

void write_holder(int descriptor) {
  const auto now = std::chrono::floor<Duration>(std::chrono::system_clock::now());
  const std::string text = "process " + std::to_string(getpid()) + " since " + format_utc(now);
  // Only a courtesy to whoever finds the lock taken: that it is held is what counts.
  if (ftruncate(descriptor, 0) == 0) {
    [[maybe_unused]] const ssize_t written = pwrite(descriptor, text.data(), text.size(), 0);
  }
}

}  // namespace

Ownership::Ownership(const std::string& state) {
  const std::string path = state + "-owner";
  descriptor_ = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (descriptor_ < 0) {
    throw StoreError(state,
                     "cannot be locked: " + path + ": " + std::strerror(errno) +
                         "; check that its directory exists and may be written");
  }
  if (flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
    const int error = errno;
    const std::string holder = read_holder(descriptor_);
    close(descriptor_);
    if (error == EWOULDBLOCK) throw StateHeldError(state, holder);
    throw StoreError(state, "cannot be locked: " + path + ": " + std::strerror(error));
  }
  write_holder(descriptor_);
}

Ownership::~Ownership() {
  close(descriptor_);
}

}  // namespace dutiful
