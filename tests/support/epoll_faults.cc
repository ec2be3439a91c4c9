#include "support/epoll_faults.h"

#include <atomic>
#include <cerrno>

#include <dlfcn.h>
#include <sys/epoll.h>

namespace {
std::atomic<int> add_error = 0;
}  // namespace

dutiful::EpollFault::EpollFault(int error) noexcept {
  add_error = error;
}

dutiful::EpollFault::~EpollFault() {
  add_error = 0;
}

// Replaces the function of the system and calls it.
extern "C" int epoll_ctl(int epoll, int operation, int descriptor, epoll_event* event) noexcept {
  if (operation == EPOLL_CTL_ADD && add_error != 0) {
    errno = add_error;
    return -1;
  }
  static const auto control = reinterpret_cast<decltype(&epoll_ctl)>(dlsym(RTLD_NEXT, "epoll_ctl"));
  return control(epoll, operation, descriptor, event);
}
