// How long to wait before a retry: longer after each failure.
#pragma once

#include <algorithm>
#include <chrono>

namespace dutiful {

// The delays are 100 ms, 200 ms, 400 ms, …, at most 30 s.
class BackOff {
 public:
  using Delay = std::chrono::milliseconds;

  // It failed once more: retry after this.
  Delay fail() { return delay_ = std::clamp(2 * delay_, Delay{100}, Delay{30'000}); }
  void succeed() { delay_ = Delay::zero(); }
  [[nodiscard]] bool waits() const { return delay_ > Delay::zero(); }
  [[nodiscard]] Delay delay() const { return delay_; }

 private:
  Delay delay_{};
};

}  // namespace dutiful
