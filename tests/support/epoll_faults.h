// Lets epoll run out of watches, in programs that link this.
#pragma once

namespace dutiful {

// While one lives, no descriptor can be added to an epoll: it fails with this error.
class EpollFault {
 public:
  explicit EpollFault(int error) noexcept;
  ~EpollFault();
  EpollFault(const EpollFault&) = delete;
  EpollFault& operator=(const EpollFault&) = delete;
};

}  // namespace dutiful
