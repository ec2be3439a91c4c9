// Makes the host run out of threads, in programs that link this.
#pragma once

#include <limits>

namespace dutiful {

// During its life, the process can start only this many more threads.
class ThreadLimit {
 public:
  explicit ThreadLimit(int threads) noexcept { set(threads); }
  ~ThreadLimit() { set(std::numeric_limits<int>::max()); }
  ThreadLimit(const ThreadLimit&) = delete;
  ThreadLimit& operator=(const ThreadLimit&) = delete;

  void set(int threads) noexcept;
};

}  // namespace dutiful
