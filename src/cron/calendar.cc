#include <algorithm>

#include <dutiful/calendar.h>

#include "cron/cause.h"
#include "cron/count.h"
#include "cron/search.h"
#include "time/iso8601.h"
#include "time/timeline.h"

namespace dutiful {
namespace {

using std::chrono::minutes;

// The searches below are exact for every instant of the years that are searched. Clamping other
// instants prevents overflow and changes no result.
constexpr std::chrono::days margin{3};
static_assert(margin > std::chrono::days{1} + offset_max);
constexpr Instant instant_min = std::chrono::sys_days{year_min / 1 / 1} - margin;
constexpr Instant instant_max = std::chrono::sys_days{year_max / 12 / 31} + margin;

// The minute that clocks with this offset show. Counted from a time before all others, because an
// unsigned division takes half the steps of a floored signed one.
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

// Nothing matches from `from` to the end of the years, but the clocks may be set back to minutes
// before `from`: continues at the first minute of the first segment that begins there. No zone sets
// them back further than twice its greatest offset.
bool go_back(Timeline::Cursor& segment, CivilMinute& from, RepeatedMinutes policy) {
  const Instant end = start_of(from, segment->offset) + 2 * offset_max;
  while (segment->end <= end) {
    segment.to_next();
    const CivilMinute first = first_due(*segment, policy);
    if (first < from) {
      from = first;
      return true;
    }
  }
  return false;
}
// The mirror image: nothing matches up to `from`, but an earlier segment may show later minutes.
bool go_forward(Timeline::Cursor& segment, CivilMinute& from) {
  const Instant begin = start_of(from, segment->offset) - 2 * offset_max;
  while (segment->begin >= begin) {
    segment.to_previous();
    const CivilMinute last = segment->end_minute - minutes{1};
    if (last > from) {
      from = last;
      return true;
    }
  }
  return false;
}

// A year in ISO 8601 has four digits: an instant outside is shown as the nearest one inside.
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
    if (found == CronSearch::none_after) {
      if (!go_back(segment, from, repeated_minutes_)) return std::nullopt;
      continue;
    }

    // Nothing matches from `from` up to `found`. So a segment that begins between the two can only
    // show `found` itself; any other segment must be searched from its beginning, because the
    // clocks jumped over `found` or back to minutes before `from`.
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
    if (found == CronSearch::none_before) {
      if (!go_forward(segment, from)) return std::nullopt;
      continue;
    }

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

std::int64_t Calendar::count(const CronExpression& cron,
                             Instant after,
                             Instant until) const noexcept {
  after = std::max(after, instant_min);
  until = std::min(until, instant_max);
  if (after >= until) return 0;
  auto segment = zone_.timeline_->at(after);
  CivilMinute first =
      std::max(shown(after, segment->offset) + minutes{1}, first_due(*segment, repeated_minutes_));

  // The minutes between the first and the last local time as if the clocks were never set, minus
  // those that the clocks skip, plus those that they repeat.
  const CronCount chosen{cron};
  const CivilMinute begin = first;
  CivilMinute end = first;
  std::int64_t jumped_over = 0;
  while (true) {
    const bool is_last = until < segment->end;
    const CivilMinute segment_end =
        is_last ? shown(until, segment->offset) + minutes{1} : segment->end_minute;
    if (first < segment_end) {  // otherwise nothing is due in it
      jumped_over += chosen.between(end, first);
      end = segment_end;
    }
    if (is_last) return chosen.between(begin, end) - jumped_over;
    segment.to_next();
    first = first_due(*segment, repeated_minutes_);
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
