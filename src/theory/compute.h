// Compute: what the environment grants, and what the axioms of liveness may spend of it.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>

#include <dutiful/time.h>

namespace dutiful::theory {

using Micros = std::chrono::microseconds;

// (a, b, t_lag), the witnesses of T_sched(a, b, t_lag). A unit of compute is a microsecond.
struct Witnesses {
  std::int64_t a = 1;  // units for every bit of the registration list
  Micros b = std::chrono::seconds{1};
  Micros lag = std::chrono::seconds{60};

  // F^lin(R)_comp := F^{≤ a·|R| + b}_comp, and the lag on top (RULES H6).
  [[nodiscard]] Micros budget(std::size_t bits) const {
    return Micros{a * static_cast<std::int64_t>(bits)} + b + lag;
  }
};

// compute(S): a unit for every microsecond of S that is not frozen. The time of L1 stands still as
// well while as many callbacks run as may at one time (RULES H10).
class ComputeClock {
 public:
  void advance(Instant to) {
    if (!started_) {
      now_ = to;
      started_ = true;
    }
    const Instant thawed = std::max(now_, frozen_until_);
    if (to > thawed) {
      granted_ += to - thawed;
      if (!saturated_) usable_ += to - thawed;
    }
    now_ = std::max(now_, to);
  }
  void freeze(Instant until) { frozen_until_ = std::max(frozen_until_, until); }
  void set_saturated(bool saturated) { saturated_ = saturated; }

  // Frozen at i: the position lies in an interval in which compute is 0.
  [[nodiscard]] bool frozen() const { return now_ < frozen_until_; }
  [[nodiscard]] Instant frozen_until() const { return frozen_until_; }
  [[nodiscard]] Instant now() const { return now_; }
  [[nodiscard]] Micros granted() const { return granted_; }
  [[nodiscard]] Micros usable() const { return usable_; }  // for L1

 private:
  bool started_ = false;
  bool saturated_ = false;
  Instant now_ = Instant::min();
  Instant frozen_until_ = Instant::min();
  Micros granted_{};
  Micros usable_{};
};

}  // namespace dutiful::theory
