// Lengths of time as people write them: 1h30m.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include <dutiful/time.h>

namespace dutiful {

// A longer duration is a typing error, and adding it to an instant would leave the calendar.
inline constexpr Duration duration_max = std::chrono::days{36525};

enum class DurationFault {
  malformed,
  negative,  // a duration after a minus sign
  too_long,  // more than duration_max
};

// Reads whole numbers with the units d, h, m, s and ms, the largest unit first and each at most
// once: 0s, 250ms, 30s, 5m, 1h30m, 1d. Also reads the longer spellings of systemd.time(7), with its
// optional spaces: 4min, 1 hour 30 minutes.
[[nodiscard]] std::variant<Duration, DurationFault> parse_duration(std::string_view text);

// The shortest text of a duration, which must not be negative: 1h30m.
[[nodiscard]] std::string format_duration(Duration duration);

// What is wrong with that text, and what to write: `"5" is not a duration; …`.
[[nodiscard]] std::string explain_fault(std::string_view text, DurationFault fault);

}  // namespace dutiful
