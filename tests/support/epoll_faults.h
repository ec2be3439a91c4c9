// Makes epoll run out of watches, in programs that link this.
#pragma once

namespace dutiful {

// During its life, adding a descriptor to an epoll fails with this error.
class EpollFault {
 public:
  explicit EpollFault(int error) noexcept;
  ~EpollFault();
  EpollFault(const EpollFault&) = delete;
  EpollFault& operator=(const EpollFault&) = delete;
};

}  // namespace dutiful
