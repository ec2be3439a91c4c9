// The rule of a POSIX TZ string, such as EST5EDT,M3.2.0,M11.1.0: a zone that is the same every
// year.
#pragma once

#include <array>
#include <chrono>
#include <optional>
#include <string_view>

namespace dutiful {

// No zone is further than this from UTC: POSIX allows 24 hours plus an hour of daylight time, and
// RFC 8536 a little more. A zone file with a larger offset is damaged.
inline constexpr std::chrono::hours offset_max{26};

// From `at` on, clocks are `offset` ahead of UTC.
struct Transition {
  std::chrono::sys_seconds at;
  std::chrono::seconds offset;
};

struct PosixRule {
  // A day of the year in one of POSIX's three notations, and a time of that day.
  struct Date {
    enum class Kind {
      month_week_weekday,  // Mm.w.d: the w-th weekday d of month m, the last one for w = 5
      day_of_365,          // Jn: 1 to 365; 29 February does not count
      day_of_366,          // n: 0 to 365; 29 February counts
    };
    Kind kind;
    int month, week, weekday;   // for month_week_weekday
    int day;                    // for the others
    std::chrono::seconds time;  // since midnight; may be negative or more than a day

    [[nodiscard]] std::chrono::local_seconds in(std::chrono::year year) const;
  };
  struct Daylight {
    std::chrono::seconds offset;
    Date start;  // in standard time
    Date end;    // in daylight time
  };

  std::chrono::seconds standard;
  std::optional<Daylight> daylight;

  // The two transitions of a civil year, in time order. Requires daylight.
  [[nodiscard]] std::array<Transition, 2> transitions_in(std::chrono::year year) const;
};

// Reads a whole TZ string with the extensions of RFC 8536 (hours from -167 to 167). Returns nothing
// if it is malformed, or if it names a daylight time without saying when that begins and ends:
// POSIX leaves this to the system, and no guess is right everywhere.
[[nodiscard]] std::optional<PosixRule> parse_posix_rule(std::string_view text);

}  // namespace dutiful
