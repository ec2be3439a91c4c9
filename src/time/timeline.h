// A zone as a sorted list of segments, each with one offset from UTC (RULES T3, T4, T5).
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include <dutiful/time.h>

#include "time/posix_rule.h"

namespace dutiful {

// A stretch of time during which a zone keeps one offset: the instants in [begin, end).
//
// A civil minute starts at second 0 of the local clock (RULES T1). [first_minute, end_minute) are
// the minutes that start inside the segment. If the clocks were set back, first_minute lies before
// the end_minute of the previous segment: the minutes between are repeated. If they were set
// forward, it lies behind it: the minutes between are in no segment, so they never start.
struct Segment {
  Instant begin;
  Instant end;
  std::chrono::seconds offset;
  CivilMinute first_minute;
  CivilMinute fresh_minute;  // no minute from here on is in an earlier segment
  CivilMinute end_minute;
};

// 400 years, which is also a whole number of weeks.
inline constexpr std::chrono::days gregorian_cycle{146097};

// The segments of a zone, numbered from 0, without end.
//
// The Gregorian calendar, weekdays included, repeats every 400 years, and so does a rule that holds
// every year. So the table ends with 400 years of the rule, and a segment beyond it is one of
// those, shifted. Nothing is computed later, and nothing needs a lock.
class Timeline {
 public:
  // `initial` is the offset before the first transition. The transitions are strictly ascending.
  // The rule, if any, applies after the last of them, or always if there are none.
  Timeline(std::chrono::seconds initial,
           std::vector<Transition> transitions,
           const std::optional<PosixRule>& rule);

  // A segment and a way to its neighbours. Must not outlive its timeline.
  class Cursor {
   public:
    Cursor(const Cursor&) = delete;
    Cursor& operator=(const Cursor&) = delete;

    const Segment& operator*() const noexcept { return *segment_; }
    const Segment* operator->() const noexcept { return segment_; }
    void to_next() noexcept { to(number_ + 1); }
    void to_previous() noexcept { to(number_ - 1); }  // requires that there is one

   private:
    friend class Timeline;
    Cursor(const Timeline& timeline, std::int64_t number) noexcept : timeline_(timeline) {
      to(number);
    }
    void to(std::int64_t number) noexcept {
      number_ = number;
      segment_ = timeline_.segments_.data() + number;
      if (number >= timeline_.size_) [[unlikely]] {
        beyond_table_ = timeline_.repeated(number);
        segment_ = &beyond_table_;
      }
    }

    const Timeline& timeline_;
    std::int64_t number_;
    const Segment* segment_;
    Segment beyond_table_;
  };

  // The segment that contains the instant. Requires instant <= instant_max, which is far beyond
  // every year that is searched and far below the overflow of milliseconds.
  static constexpr Instant instant_max = std::chrono::sys_days{std::chrono::year::max() / 1 / 1};
  [[nodiscard]] Cursor at(Instant instant) const noexcept { return {*this, number_at(instant)}; }

 private:
  // About 25 days, as a power of two so that the division is a shift. Few zones change their offset
  // that often, so the search rarely takes a step from a bucket's hint.
  static constexpr Duration bucket_size{std::int64_t{1} << 31};

  [[nodiscard]] std::int64_t number_at(Instant instant) const noexcept {
    std::int64_t cycles = 0;
    if (instant >= horizon_) [[unlikely]] {
      cycles = 1 + (instant - horizon_) / Duration{gregorian_cycle};
      instant -= cycles * gregorian_cycle;
    }
    std::size_t number = 0;
    if (instant >= hints_begin_) [[likely]] {
      const auto bucket = static_cast<std::size_t>((instant - hints_begin_) / bucket_size);
      number = hints_[std::min(bucket, hint_last_)];
    }
    while (instant >= segments_[number].end) ++number;
    return static_cast<std::int64_t>(number) + cycles * cycle_size_;
  }

  void append(const Transition& transition);
  void repeat_last(std::size_t count);
  void make_hints();
  [[nodiscard]] Segment repeated(std::int64_t number) const noexcept;

  std::vector<Segment> segments_;     // the table
  std::int64_t size_ = 0;             // segments_.size(), which costs a division
  std::int64_t cycle_size_ = 0;       // how many of the last repeat; 0 if the last one has no end
  Instant horizon_ = Instant::max();  // where the first repetition begins

  // The segment that contains the beginning of each bucket, from the first transition to the last.
  // A binary search would cost twice as much as everything else in `next`.
  std::vector<std::uint16_t> hints_;
  std::size_t hint_last_ = 0;
  Instant hints_begin_;
};

}  // namespace dutiful
