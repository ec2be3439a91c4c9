// Instants and local times as text (ISO 8601).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <dutiful/time.h>

namespace dutiful {

// A date and a time of day; an instant only where the text gave the offset.
struct Timestamp {
  std::chrono::local_time<Duration> local;
  std::optional<std::chrono::seconds> offset;

  // When clocks with that offset show it.
  [[nodiscard]] Instant instant(std::chrono::seconds at_offset) const;
};

// Reads 2025-11-02T01:30:00-04:00. Seconds and their fraction may be missing; the offset may be
// `Z`, ±hh:mm, ±hhmm, ±hh, ±hh:mm:ss, or missing; what is finer than a millisecond is cut off.
// Nothing where the text is not that, or no such date exists in the years 1 to 9999.
[[nodiscard]] std::optional<Timestamp> parse_timestamp(std::string_view text);

// 2025-11-02T01:30:00-04:00: the second that holds the instant, as clocks with that offset show it.
// Offsets print as ±hh:mm, with :ss where they have seconds. Requires a year from 1 to 9999.
[[nodiscard]] std::string format_second(Instant instant, std::chrono::seconds offset);

// 2025-11-02T05:30:00.000Z
[[nodiscard]] std::string format_utc(Instant instant);

// 2025-11-02T01:30
[[nodiscard]] std::string format_minute(CivilMinute minute);

}  // namespace dutiful
