// Compute: how much the environment grants, and how much the axioms of liveness may spend.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <deque>

#include <dutiful/time.h>

namespace dutiful::theory {

using Micros = std::chrono::microseconds;

// (a, b, t_lag), the witnesses of T_sched(a, b, t_lag). A unit of compute is a microsecond.
struct Witnesses {
  std::int64_t a = 1;  // units per bit of the registration list
  Micros b = std::chrono::seconds{1};
  Micros lag = std::chrono::seconds{60};

  // F^lin(R)_comp := F^{≤ a·|R| + b}_comp, plus the lag (RULES H6).
  [[nodiscard]] Micros budget(std::size_t bits) const {
    return Micros{a * static_cast<std::int64_t>(bits)} + b + lag;
  }
};

// The time during which as many callbacks ran as the limit allows. It does not count for L1 (RULES
// H10).
//
// A callback runs until it returns, which the trace shows only later, when its end is recorded. So
// a stretch is corrected when an end shows that the callback returned earlier.
class Saturation {
 public:
  // Requires that it begins at or after the end of the last one.
  void add(Instant begin, Instant end) {
    if (!stretches_.empty() && stretches_.back().end == begin) {
      stretches_.back().end = end;
    } else {
      stretches_.push_back({begin, end, total()});
      if (stretches_.size() > stretches_max) join_oldest();
    }
  }

  // A callback returned then, so there has been room for another since.
  void forget_after(Instant instant) {
    while (!stretches_.empty() && stretches_.back().begin >= instant) stretches_.pop_back();
    if (!stretches_.empty()) {
      stretches_.back().end = std::min(stretches_.back().end, instant);
    }
  }

  // Nothing before this instant is needed any more.
  void forget_before(Instant instant) {
    while (!stretches_.empty() && stretches_.front().end <= instant) stretches_.pop_front();
  }

  // How much of the time since an instant was saturated.
  [[nodiscard]] Micros since(Instant instant) const {
    const auto first = std::ranges::upper_bound(stretches_, instant, {}, &Stretch::end);
    if (first == stretches_.end()) return Micros{};
    return total() - first->before - std::max(instant - first->begin, Duration::zero());
  }

 private:
  struct Stretch {
    Instant begin, end;
    Duration before;  // the total length of all earlier ones
  };
  static constexpr std::size_t stretches_max = std::size_t{1} << 16;

  // The judge's memory must not grow with the trace. The two oldest stretches are merged into one
  // of their total length. Only an end recorded even later would show the difference.
  void join_oldest() {
    const Duration length = stretches_.front().end - stretches_.front().begin;
    stretches_.pop_front();
    stretches_.front().begin -= length;
    stretches_.front().before -= length;
  }

  [[nodiscard]] Duration total() const {
    if (stretches_.empty()) return Duration::zero();
    const Stretch& last = stretches_.back();
    return last.before + (last.end - last.begin);
  }

  std::deque<Stretch> stretches_;  // ascending and disjoint
};

// compute(S): a unit for every microsecond of S that is not frozen.
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
      if (saturated_) saturation_.add(thawed, to);
    }
    now_ = std::max(now_, to);
  }
  void freeze(Instant until) { frozen_until_ = std::max(frozen_until_, until); }
  void set_saturated(bool saturated) { saturated_ = saturated; }
  [[nodiscard]] Saturation& saturation() { return saturation_; }

  // Frozen at i: the position lies in an interval in which compute is 0.
  [[nodiscard]] bool frozen() const { return now_ < frozen_until_; }
  [[nodiscard]] Instant frozen_until() const { return frozen_until_; }
  [[nodiscard]] Instant now() const { return now_; }
  [[nodiscard]] Micros granted() const { return granted_; }

  // How much of the compute granted since an instant counts for L1.
  [[nodiscard]] Micros usable_since(Instant instant, Micros granted_then) const {
    return granted_ - granted_then - saturation_.since(instant);
  }

 private:
  bool started_ = false;
  bool saturated_ = false;
  Instant now_ = Instant::min();
  Instant frozen_until_ = Instant::min();
  Micros granted_{};
  Saturation saturation_;
};

}  // namespace dutiful::theory
