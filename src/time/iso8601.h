// Instants and local times as text (ISO 8601).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <dutiful/time.h>

namespace dutiful {

// A date and a time of day. It is an instant only if the text gave an offset.
struct Timestamp {
  std::chrono::local_time<Duration> local;
  std::optional<std::chrono::seconds> offset;

  // The instant at which clocks with that offset show it.
  [[nodiscard]] Instant instant(std::chrono::seconds at_offset) const;
};

// Reads 2025-11-02T01:30:00-04:00. Seconds and their fraction may be missing; digits below a
// millisecond are dropped. The offset may be `Z`, ±hh:mm, ±hhmm, ±hh, ±hh:mm:ss, or missing.
// Returns nothing if the text is malformed or no such date exists in the years 1 to 9999.
[[nodiscard]] std::optional<Timestamp> parse_timestamp(std::string_view text);

// 2025-11-02T01:30:00-04:00: the second that contains the instant, as shown by clocks with that
// offset. Offsets print as ±hh:mm, with :ss if they have seconds. Requires a year from 1 to 9999.
[[nodiscard]] std::string format_second(Instant instant, std::chrono::seconds offset);

// 2025-11-02T05:30:00.000Z
[[nodiscard]] std::string format_utc(Instant instant);
void append_utc(std::string& out, Instant instant);

// 2025-11-02T01:30
[[nodiscard]] std::string format_minute(CivilMinute minute);

}  // namespace dutiful
