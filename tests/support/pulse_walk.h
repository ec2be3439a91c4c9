// The slow, obvious twin of Calendar: visits every instant at which a minute may start, and asks
// another library (abseil's time zones) what the clocks show.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <absl/time/time.h>

#include <dutiful/calendar.h>

#include "support/naive_cron.h"

namespace dutiful {

inline absl::Time to_absl(Instant instant) {
  return absl::FromUnixMillis(instant.time_since_epoch().count());
}
inline Instant from_absl(absl::Time time) {
  return Instant{Duration{absl::ToUnixMillis(time)}};
}

// The zone of that name in abseil. Throws if it has none.
inline absl::TimeZone absl_zone(const std::string& name) {
  absl::TimeZone zone;
  if (!absl::LoadTimeZone(name, &zone)) throw std::runtime_error("abseil has no zone " + name);
  return zone;
}

class PulseWalk {
 public:
  PulseWalk(const std::string& expression, absl::TimeZone zone, RepeatedMinutes policy)
      : cron_(expression), zone_(zone), policy_(policy) {}

  // RULES T2, T3, T4: whether a matching civil minute starts here.
  [[nodiscard]] bool pulses_at(Instant instant) const {
    const auto shown = zone_.At(to_absl(instant));
    if (shown.cs.second() != 0) return false;
    const CivilMinute minute =
        std::chrono::local_days{std::chrono::year{static_cast<int>(shown.cs.year())} /
                                shown.cs.month() / shown.cs.day()} +
        std::chrono::hours{shown.cs.hour()} + std::chrono::minutes{shown.cs.minute()};
    if (!cron_.matches(minute)) return false;
    if (policy_ == RepeatedMinutes::both) return true;
    const auto reading = zone_.At(shown.cs);
    return reading.kind != absl::TimeZone::TimeInfo::REPEATED || from_absl(reading.pre) == instant;
  }

  // Every pulse from `begin` to `end`, both inclusive. A step of a minute is enough for offsets of
  // whole minutes; others need a step of a second.
  [[nodiscard]] std::vector<Instant> pulses(Instant begin,
                                            Instant end,
                                            std::chrono::seconds step) const {
    std::vector<Instant> found;
    for (Instant at = std::chrono::ceil<std::chrono::minutes>(begin); at <= end; at += step) {
      if (pulses_at(at)) found.push_back(at);
    }
    return found;
  }

 private:
  NaiveCron cron_;
  absl::TimeZone zone_;
  RepeatedMinutes policy_;
};

}  // namespace dutiful
