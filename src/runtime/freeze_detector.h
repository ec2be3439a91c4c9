// Notices that the process did not run for a while.
#pragma once

#include <chrono>
#include <optional>

#include "core/task.h"
#include "trace/event.h"

namespace dutiful {

// A loop that is woken much later than it asked for was frozen: the process was stopped, the
// machine slept, or the clock was set forward. To the theory, time stood still meanwhile (RULES
// H6).
class FreezeDetector {
 public:
  // A wake-up that is late by no more than this is no freeze.
  static constexpr Duration late_max = std::chrono::seconds{1};

  // The loop asks, at `now`, to be woken at `alarm`.
  void set_alarm(Instant alarm, Instant now) noexcept {
    alarm_ = alarm;
    set_at_ = now;
  }

  // The first thing since then happens at that instant. Returns the freeze that it ends, if any,
  // once. Until the alarm is due, this may be called again.
  [[nodiscard]] std::optional<TracedEvent> wake(Instant at) {
    if (at <= alarm_ || !in_clock_range(at)) return std::nullopt;
    const Instant begin = std::exchange(alarm_, Instant::max());
    if (begin <= set_at_ || at - begin <= late_max) return std::nullopt;
    return TracedEvent{begin, Freeze{at}};
  }

 private:
  Instant alarm_ = Instant::max();
  Instant set_at_ = Instant::min();
};

}  // namespace dutiful
