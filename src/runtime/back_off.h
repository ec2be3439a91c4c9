// How long to wait before what failed is tried again: longer each time.
#pragma once

#include <algorithm>

#include <dutiful/time.h>

namespace dutiful {

class BackOff {
 public:
  // It failed once more: try again after this.
  Duration fail() { return delay_ = std::clamp(2 * delay_, Duration{100}, Duration{30'000}); }
  void succeed() { delay_ = Duration::zero(); }
  [[nodiscard]] bool waits() const { return delay_ > Duration::zero(); }
  [[nodiscard]] Duration delay() const { return delay_; }

 private:
  Duration delay_{};
};

}  // namespace dutiful
