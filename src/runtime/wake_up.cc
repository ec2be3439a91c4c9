#include "runtime/wake_up.h"

#include <cerrno>
#include <cstdint>
#include <system_error>

#include <sys/eventfd.h>
#include <unistd.h>

namespace dutiful {

WakeUp::WakeUp() : descriptor_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  if (descriptor_ < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
}

WakeUp::~WakeUp() {
  close(descriptor_);
}

void WakeUp::ring() noexcept {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t size = write(descriptor_, &one, sizeof one);
}

void WakeUp::take() noexcept {
  std::uint64_t rings = 0;
  [[maybe_unused]] const ssize_t size = read(descriptor_, &rings, sizeof rings);
}

}  // namespace dutiful
