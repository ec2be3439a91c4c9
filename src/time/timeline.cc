#include "time/timeline.h"

#include <limits>
#include <stdexcept>

namespace dutiful {
namespace {

using std::chrono::seconds;
using std::chrono::sys_days;
using std::chrono::sys_seconds;

// Transitions outside these bounds do not affect the years that are searched. Zone files contain
// some at the beginning of time, where milliseconds overflow.
constexpr sys_seconds earliest = sys_days{(year_min - std::chrono::years{1}) / 1 / 1};
constexpr sys_seconds latest = sys_days{(year_max + std::chrono::years{2}) / 1 / 1};

// The first minute that starts at or after the instant, as shown by clocks with that offset.
CivilMinute minute_from(sys_seconds at, seconds offset) {
  return std::chrono::ceil<std::chrono::minutes>(
      std::chrono::local_seconds{at.time_since_epoch() + offset});
}

// Removes transitions that change nothing: those to the offset already in force, and those undone
// by another one at the same instant (a rule for daylight time all year ends and begins it at New
// Year).
void simplify(seconds initial, std::vector<Transition>& transitions) {
  std::vector<Transition> kept;
  for (const Transition& transition : transitions) {
    if (!kept.empty() && kept.back().at == transition.at) kept.pop_back();
    const seconds before = kept.empty() ? initial : kept.back().offset;
    if (transition.offset != before) kept.push_back(transition);
  }
  transitions = std::move(kept);
}

// Appends the transitions of the rule after the last listed one, up to the end of the rule's first
// full cycle, and returns the beginning of that cycle: the second February after the last listed
// transition. By then only the rule has applied for a year, and no transition of a rule lies that
// far from its own year.
sys_seconds append_cycle(const PosixRule& rule, std::vector<Transition>& transitions) {
  const sys_seconds last = transitions.empty() ? earliest : transitions.back().at;
  const auto year = std::chrono::year_month_day{std::chrono::floor<std::chrono::days>(last)}.year();
  const sys_days begin{(year + std::chrono::years{2}) / std::chrono::February / 1};
  const sys_days end = begin + gregorian_cycle;
  for (auto y = year; y <= year + std::chrono::years{403}; ++y) {
    for (const Transition& transition : rule.transitions_in(y)) {
      if (transition.at > last && transition.at < end) transitions.push_back(transition);
    }
  }
  std::ranges::stable_sort(transitions, {}, &Transition::at);
  return begin;
}

}  // namespace

Timeline::Timeline(seconds initial,
                   std::vector<Transition> transitions,
                   const std::optional<PosixRule>& rule) {
  const auto seen = std::find_if(
      transitions.begin(), transitions.end(), [](const Transition& t) { return t.at >= earliest; });
  if (seen != transitions.begin()) initial = std::prev(seen)->offset;
  transitions.erase(transitions.begin(), seen);
  std::erase_if(transitions, [](const Transition& t) { return t.at > latest; });

  if (rule && transitions.empty()) initial = rule->standard;
  const sys_seconds cycle_begin =
      rule && rule->daylight ? append_cycle(*rule, transitions) : sys_seconds::max();
  simplify(initial, transitions);

  segments_.reserve(transitions.size() + 1);
  segments_.push_back({.begin = Instant::min(),
                       .end = Instant::max(),
                       .offset = initial,
                       .first_minute = CivilMinute::min(),
                       .fresh_minute = CivilMinute::min(),
                       .end_minute = CivilMinute::max()});
  std::optional<std::size_t> cycle_first;
  for (const Transition& transition : transitions) {
    if (transition.at >= cycle_begin && !cycle_first) cycle_first = segments_.size();
    append(transition);
  }
  if (segments_.size() >= std::numeric_limits<std::uint16_t>::max()) {
    throw std::length_error("a zone has too many transitions");
  }
  if (cycle_first) repeat_last(segments_.size() - *cycle_first);
  size_ = static_cast<std::int64_t>(segments_.size());
  make_hints();
}

void Timeline::append(const Transition& transition) {
  segments_.back().end = transition.at;
  segments_.back().end_minute = minute_from(transition.at, segments_.back().offset);
  const CivilMinute first = minute_from(transition.at, transition.offset);

  // The earlier segments that may contain some of these minutes: no clock was ever set back
  // further.
  const auto recent = std::ranges::find_if(segments_, [&](const Segment& segment) {
    return segment.end > Instant{transition.at} - 2 * offset_max;
  });
  const std::vector<Segment> earlier(recent, segments_.end());

  // If the clocks went forward and back within a day, repeated and new minutes may alternate. A
  // segment for each stretch keeps "all minutes from fresh_minute on are new" true.
  std::vector<CivilMinute> starts{first};
  for (const Segment& segment : earlier) {
    if (segment.first_minute > first) starts.push_back(segment.first_minute);
  }
  std::ranges::sort(starts);
  for (const CivilMinute start : starts) {
    CivilMinute fresh = start;
    for (const Segment& segment : earlier) {
      if (segment.first_minute <= start) fresh = std::max(fresh, segment.end_minute);
    }
    const Instant begin = start == first ? Instant{transition.at}
                                         : Instant{start.time_since_epoch() - transition.offset};
    if (start != first) {
      segments_.back().end = begin;
      segments_.back().end_minute = start;
    }
    segments_.push_back({.begin = begin,
                         .end = Instant::max(),
                         .offset = transition.offset,
                         .first_minute = start,
                         .fresh_minute = fresh,
                         .end_minute = CivilMinute::max()});
  }
}

void Timeline::repeat_last(std::size_t count) {
  cycle_size_ = static_cast<std::int64_t>(count);
  horizon_ = segments_[segments_.size() - count].begin + gregorian_cycle;
  Segment& last = segments_.back();
  last.end = horizon_;
  last.end_minute = minute_from(std::chrono::floor<seconds>(horizon_), last.offset);
}

void Timeline::make_hints() {
  hints_begin_ = segments_.size() > 1 ? segments_[1].begin : Instant{};
  const Instant end = segments_.back().begin;
  std::uint16_t number = 0;
  Instant bucket = hints_begin_;
  do {
    while (segments_[number].end <= bucket) ++number;
    hints_.push_back(number);
    bucket += bucket_size;
  } while (bucket <= end);
  hint_last_ = hints_.size() - 1;
}

Segment Timeline::repeated(std::int64_t number) const noexcept {
  const std::int64_t cycles = 1 + (number - size_) / cycle_size_;
  const auto shift = std::chrono::floor<std::chrono::minutes>(cycles * Duration{gregorian_cycle});
  Segment segment = segments_[static_cast<std::size_t>(number - cycles * cycle_size_)];
  segment.begin += shift;
  segment.end += shift;
  segment.first_minute += shift;
  segment.fresh_minute += shift;
  segment.end_minute += shift;
  return segment;
}

}  // namespace dutiful
