// When a cron expression is due in a zone.
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

// A zone and a policy: turns the civil minutes of cron expressions into instants.
//
//   Calendar calendar{Zone::load("America/New_York")};
//   auto half_past_two = CronExpression::parse("30 2 * * *");
//   // In the night of 2025-03-09 there is no 02:30. It is not due that day (RULES T3):
//   calendar.next(half_past_two, sys_days{2025y / 3 / 8} + 12h);   // 2025-03-10T02:30:00-04:00
//   auto half_past_one = CronExpression::parse("30 1 * * *");
//   // In the night of 2025-11-02 there are two 01:30, and it is due at both (RULES T4):
//   calendar.next(half_past_one, sys_days{2025y / 11 / 2});          // 2025-11-02T01:30:00-04:00
//   calendar.next(half_past_one, sys_days{2025y / 11 / 2} + 5h + 30min);  // …T01:30:00-05:00
//
// next() is strictly after its instant and previous() at or before its own, so a loop over next()
// always advances. An immutable value, safe to share between threads; nothing allocates.
class DUTIFUL_EXPORT Calendar {
 public:
  explicit Calendar(const Zone& zone,
                    RepeatedMinutes repeated_minutes = RepeatedMinutes::both) noexcept;

  // Throw CronCalculationError where the civil years 1 to 9999 hold none, with `text` as the
  // expression: the one that `cron` was read from, if it is given, else its to_string().
  [[nodiscard]] Instant next(const CronExpression& cron,
                             Instant after,
                             std::string_view text = {}) const;
  [[nodiscard]] Instant previous(const CronExpression& cron,
                                 Instant from,
                                 std::string_view text = {}) const;

  // The same, with nothing instead of the exception.
  [[nodiscard]] std::optional<Instant> find_next(const CronExpression& cron,
                                                 Instant after) const noexcept;
  [[nodiscard]] std::optional<Instant> find_previous(const CronExpression& cron,
                                                     Instant from) const noexcept;

  // The number of pulses in (after, until]: how often a loop over next() that begins with `after`
  // would answer an instant up to `until`. 0 unless `until` is later than `after`.
  //
  //   // One a day, and one more in the night of 2025-11-02:
  //   calendar.count(half_past_one, sys_days{2025y / 1 / 1}, sys_days{2026y / 1 / 1});  // 366
  //
  // It is arithmetic and not such a loop: a year takes a fraction of a microsecond and a century a
  // few, however often the expression is due.
  [[nodiscard]] std::int64_t count(const CronExpression& cron,
                                   Instant after,
                                   Instant until) const noexcept;

  // The stretches of civil time that the clocks jumped over in (after, until]: nothing is due in
  // them.
  struct Gap {
    Instant at;         // when they jumped …
    CivilMinute begin;  // … over this minute and those that follow,
    CivilMinute end;    // up to this one
  };
  [[nodiscard]] std::vector<Gap> gaps(Instant after, Instant until) const;

  [[nodiscard]] const Zone& zone() const noexcept { return zone_; }
  [[nodiscard]] RepeatedMinutes repeated_minutes() const noexcept { return repeated_minutes_; }

 private:
  Zone zone_;
  RepeatedMinutes repeated_minutes_;
};

}  // namespace dutiful
