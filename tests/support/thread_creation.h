// Lets the host run out of threads, in programs that link this.
#pragma once

#include <limits>

namespace dutiful {

// While one lives, only so many more threads can be started, by anybody.
class ThreadLimit {
 public:
  explicit ThreadLimit(int threads) noexcept { set(threads); }
  ~ThreadLimit() { set(std::numeric_limits<int>::max()); }
  ThreadLimit(const ThreadLimit&) = delete;
  ThreadLimit& operator=(const ThreadLimit&) = delete;

  void set(int threads) noexcept;
};

}  // namespace dutiful
