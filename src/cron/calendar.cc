#include <algorithm>

#include <dutiful/calendar.h>

#include "cron/cause.h"
#include "cron/search.h"
#include "time/iso8601.h"
#include "time/timeline.h"

namespace dutiful {
namespace {

using std::chrono::minutes;

// The searches below are exact for every instant of the years that are searched; clamping the
// others keeps arithmetic from overflowing, and changes no answer.
constexpr std::chrono::days margin{2};
constexpr Instant instant_min = std::chrono::sys_days{year_min / 1 / 1} - margin;
constexpr Instant instant_max = std::chrono::sys_days{year_max / 12 / 31} + margin;

// The minute that clocks with this offset show. Counted from before everything, since unsigned
// numbers divide in half the steps that a floor of signed ones takes.
CivilMinute shown(Instant instant, std::chrono::seconds offset) {
  using UnsignedMilliseconds = std::chrono::duration<std::uint64_t, std::milli>;
  using UnsignedMinutes = std::chrono::duration<std::uint64_t, std::ratio<60>>;
  constexpr auto origin = std::chrono::floor<std::chrono::days>(instant_min - margin);
  const UnsignedMilliseconds since = instant + offset - origin;
  return CivilMinute{origin.time_since_epoch()} +
         minutes{std::chrono::duration_cast<UnsignedMinutes>(since)};
}

Instant start_of(CivilMinute minute, std::chrono::seconds offset) {
  return Instant{minute.time_since_epoch() - offset};
}

// The first minute of a segment that is due under the policy (RULES T4).
CivilMinute first_due(const Segment& segment, RepeatedMinutes policy) {
  return policy == RepeatedMinutes::both ? segment.first_minute : segment.fresh_minute;
}

// ISO 8601 has four digits for a year: what lies outside is shown as the last instant that has
// them.
Instant printable(Instant instant) {
  constexpr Instant first = std::chrono::sys_days{year_min / 1 / 1};
  constexpr Instant end = std::chrono::sys_days{(year_max + std::chrono::years{1}) / 1 / 1};
  return std::clamp(instant, first, end - Duration{1});
}

}  // namespace

Calendar::Calendar(const Zone& zone, RepeatedMinutes repeated_minutes) noexcept
    : zone_(zone), repeated_minutes_(repeated_minutes) {}

std::optional<Instant> Calendar::find_next(const CronExpression& cron,
                                           Instant after) const noexcept {
  if (after > instant_max) return std::nullopt;
  if (after < instant_min) after = instant_min;
  auto segment = zone_.timeline_->at(after);
  CivilMinute from =
      std::max(shown(after, segment->offset) + minutes{1}, first_due(*segment, repeated_minutes_));
  while (true) {
    const CivilMinute found = CronSearch::at_or_after(cron, from);
    if (found == CronSearch::none_after) return std::nullopt;

    // Nothing matches from `from` up to `found`. So a segment that begins between the two can only
    // show `found` itself; any other has to be searched from its own beginning, because the clocks
    // jumped over `found`, or back to minutes before `from`.
    CivilMinute first = from;
    while (from <= first && first <= found) {
      if (found < segment->end_minute) return start_of(found, segment->offset);
      segment.to_next();
      first = first_due(*segment, repeated_minutes_);
    }
    from = first;
  }
}

std::optional<Instant> Calendar::find_previous(const CronExpression& cron,
                                               Instant from_instant) const noexcept {
  if (from_instant < instant_min) return std::nullopt;
  if (from_instant > instant_max) from_instant = instant_max;
  auto segment = zone_.timeline_->at(from_instant);
  CivilMinute from = shown(from_instant, segment->offset);
  while (true) {
    const CivilMinute found = CronSearch::at_or_before(cron, from);
    if (found == CronSearch::none_before) return std::nullopt;

    // The mirror image of the above.
    CivilMinute last = from;
    while (found <= last && last <= from) {
      if (found >= first_due(*segment, repeated_minutes_)) return start_of(found, segment->offset);
      segment.to_previous();
      last = segment->end_minute - minutes{1};
    }
    from = last;
  }
}

std::vector<Calendar::Gap> Calendar::gaps(Instant after, Instant until) const {
  after = std::clamp(after, instant_min, instant_max);
  until = std::min(until, instant_max);
  std::vector<Gap> gaps;
  auto segment = zone_.timeline_->at(after);
  while (segment->end <= until) {
    const CivilMinute begin = segment->end_minute;
    segment.to_next();
    if (segment->first_minute > begin)
      gaps.push_back({segment->begin, begin, segment->first_minute});
  }
  return gaps;
}

Instant Calendar::next(const CronExpression& cron, Instant after, std::string_view text) const {
  if (const auto found = find_next(cron, after)) return *found;
  throw no_occurrence_from(format_utc(printable(after)), cron, text, Direction::next);
}

Instant Calendar::previous(const CronExpression& cron, Instant from, std::string_view text) const {
  if (const auto found = find_previous(cron, from)) return *found;
  throw no_occurrence_from(format_utc(printable(from)), cron, text, Direction::previous);
}

}  // namespace dutiful
