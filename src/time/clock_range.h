// The instants that a clock may show.
#pragma once

#include <algorithm>

#include <dutiful/time.h>

namespace dutiful {

// The years 1 to 9999, from the first instant up to, but not including, the last millisecond. That
// millisecond stands for everything later (see later()), so it is never due.
inline constexpr Instant clock_begin = std::chrono::sys_days{year_min / 1 / 1};
inline constexpr Instant clock_end =
    std::chrono::sys_days{year_max / 12 / 31} + std::chrono::days{1} - Duration{1};

[[nodiscard]] constexpr bool in_clock_range(Instant instant) {
  return clock_begin <= instant && instant < clock_end;
}

// The instant, or the nearest one inside the range.
[[nodiscard]] constexpr Instant into_clock_range(Instant instant) {
  return std::clamp(instant, clock_begin, clock_end);
}

// That much later, or `clock_end` if that comes first: delays may have any length.
[[nodiscard]] constexpr Instant later(Instant from, Duration by) {
  from = into_clock_range(from);
  return by > clock_end - from ? clock_end : from + by;
}

}  // namespace dutiful
