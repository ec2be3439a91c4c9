// The instants at which a cron expression is due in a zone.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include <dutiful/cron.h>
#include <dutiful/export.h>
#include <dutiful/policies.h>
#include <dutiful/time.h>
#include <dutiful/zone.h>

namespace dutiful {

// Turns the civil minutes of cron expressions into instants, by a zone and a policy.
//
//   Calendar calendar{Zone::load("America/New_York")};
//   auto half_past_two = CronExpression::parse("30 2 * * *");
//   // On 2025-03-09 the clocks skip 02:30. It is not due that day (RULES T3):
//   calendar.next(half_past_two, sys_days{2025y / 3 / 8} + 12h);   // 2025-03-10T02:30:00-04:00
//   auto half_past_one = CronExpression::parse("30 1 * * *");
//   // On 2025-11-02 the clocks show 01:30 twice. It is due both times (RULES T4):
//   calendar.next(half_past_one, sys_days{2025y / 11 / 2});          // 2025-11-02T01:30:00-04:00
//   calendar.next(half_past_one, sys_days{2025y / 11 / 2} + 5h + 30min);  // …T01:30:00-05:00
//
// next() is strictly after the given instant, so a loop over next() always advances. previous() is
// at the given instant or before it.
//
// A Calendar is an immutable value, safe to share between threads. Only gaps() and errors allocate
// memory.
class DUTIFUL_EXPORT Calendar {
 public:
  explicit Calendar(const Zone& zone,
                    RepeatedMinutes repeated_minutes = RepeatedMinutes::both) noexcept;

  // Both throw CronCalculationError if there is none in the civil years 1 to 9999. The error shows
  // `text` as the expression, or cron.to_string() if `text` is empty.
  [[nodiscard]] Instant next(const CronExpression& cron,
                             Instant after,
                             std::string_view text = {}) const;
  [[nodiscard]] Instant previous(const CronExpression& cron,
                                 Instant from,
                                 std::string_view text = {}) const;

  // The same, but return nothing instead of throwing.
  [[nodiscard]] std::optional<Instant> find_next(const CronExpression& cron,
                                                 Instant after) const noexcept;
  [[nodiscard]] std::optional<Instant> find_previous(const CronExpression& cron,
                                                     Instant from) const noexcept;

  // The number of pulses in (after, until]: how many instants up to `until` a loop over next() that
  // begins with `after` finds. 0 unless `until` is later than `after`.
  //
  //   // One a day, and one more on 2025-11-02:
  //   calendar.count(half_past_one, sys_days{2025y / 1 / 1}, sys_days{2026y / 1 / 1});  // 366
  //
  // This is arithmetic and not such a loop. A year takes a fraction of a microsecond and a century
  // a few microseconds, however often the expression is due.
  [[nodiscard]] std::int64_t count(const CronExpression& cron,
                                   Instant after,
                                   Instant until) const noexcept;

  // The stretches of civil time that the clocks skip in (after, until]. Nothing is due in them.
  struct Gap {
    Instant at;         // when the clocks jump,
    CivilMinute begin;  // from this minute
    CivilMinute end;    // to this one, which is not skipped
  };
  [[nodiscard]] std::vector<Gap> gaps(Instant after, Instant until) const;

  [[nodiscard]] const Zone& zone() const noexcept { return zone_; }
  [[nodiscard]] RepeatedMinutes repeated_minutes() const noexcept { return repeated_minutes_; }

 private:
  Zone zone_;
  RepeatedMinutes repeated_minutes_;
};

}  // namespace dutiful
