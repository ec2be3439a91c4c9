// Time by the clock of a host that counts from its boot, also while it is suspended.
#pragma once

#include <chrono>

#include <dutiful/time.h>

namespace dutiful::cluster {

// CLOCK_BOOTTIME of one host. Nobody sets it, and readings of two hosts cannot be compared: leases
// are durations by the clock of one host (RULES N3).
struct BootClock {
  using duration = Duration;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<BootClock>;
  static constexpr bool is_steady = true;
};
using BootTime = BootClock::time_point;

// How far two clocks that count time may drift apart, as a part of the time that passes: a
// thousandth.
[[nodiscard]] constexpr Duration drift_of(Duration passed) {
  return Duration{(passed.count() + 999) / 1000};
}

}  // namespace dutiful::cluster
