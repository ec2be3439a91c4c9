#include "posix/bell.h"

#include <cerrno>
#include <cstdint>
#include <system_error>

#include <sys/eventfd.h>

namespace dutiful {

Bell::Bell() : descriptor_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  if (!descriptor_.is_open()) throw std::system_error(errno, std::generic_category(), "eventfd");
}

void Bell::ring() noexcept {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t size = write(descriptor_.get(), &one, sizeof one);
}

void Bell::take() noexcept {
  std::uint64_t rings = 0;
  [[maybe_unused]] const ssize_t size = read(descriptor_.get(), &rings, sizeof rings);
}

}  // namespace dutiful
