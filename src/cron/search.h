// The search for the nearest matching minute, inline, for the hot path of Calendar.
#pragma once

#include <algorithm>
#include <bit>
#include <limits>

#include <dutiful/cron.h>

namespace dutiful {

namespace mask {

template <typename Mask>
constexpr int lowest(Mask mask) {
  return std::countr_zero(mask);
}
template <typename Mask>
constexpr int highest(Mask mask) {
  return static_cast<int>(std::bit_width(mask)) - 1;
}
// The bits up to and including bit n.
template <typename Mask>
constexpr Mask up_to(Mask mask, int n) {
  return static_cast<Mask>(mask & (~Mask{0} >> (std::numeric_limits<Mask>::digits - 1 - n)));
}
// The bits before bit n.
template <typename Mask>
constexpr Mask below(Mask mask, unsigned n) {
  return static_cast<Mask>(mask & ((Mask{1} << n) - 1));
}

}  // namespace mask

// Implements CronExpression::find_at_or_after() and find_at_or_before(). "None" is a value here,
// not an empty std::optional: GCC 12 returns an optional through memory, writes one byte of it and
// reads eight back, and that stall alone costs a third of a search.
class CronSearch {
 public:
  // The first and the last minute that are searched.
  static constexpr CivilMinute minute_min = std::chrono::local_days{year_min / 1 / 1};
  static constexpr CivilMinute minute_max =
      std::chrono::local_days{year_max / 12 / 31} + std::chrono::minutes{24 * 60 - 1};

  static constexpr CivilMinute none_after = CivilMinute::max();
  static constexpr CivilMinute none_before = CivilMinute::min();

  [[gnu::always_inline]] static CivilMinute at_or_after(const CronExpression& cron,
                                                        CivilMinute from) noexcept {
    from = std::max(from, minute_min);
    if (from > minute_max) return none_after;
    const local_days today = std::chrono::floor<days>(from);
    const year_month_day date{today};
    const int month = static_cast<int>(unsigned{date.month()}) - 1;

    if ((cron.months_ >> month & 1) != 0) {
      const int day = static_cast<int>(unsigned{date.day()}) - 1;
      const std::uint32_t here =
          days_in(cron, date.year() / date.month(), today - days{day}) >> day;
      if ((here & 1) != 0) {
        const auto time = static_cast<int>((from - today).count());
        const int hour = time / 60;
        if ((cron.hours_ >> hour & 1) != 0) {
          const std::uint64_t later = cron.minutes_ >> (time % 60);
          if (later != 0) return from + minutes{mask::lowest(later)};
        }
        const std::uint32_t later = cron.hours_ >> hour >> 1;
        if (later != 0)
          return today + minutes{(hour + 1 + mask::lowest(later)) * 60 + cron.first_ % 60};
      }
      const std::uint32_t later = here >> 1;
      if (later != 0) return today + days{1 + mask::lowest(later)} + minutes{cron.first_};
    }

    const year end = std::min(date.year() + without_match_max, year_max);
    unsigned later_months = cron.months_ & (~1U << month);
    for (year y = date.year(); y <= end; ++y, later_months = cron.months_) {
      for (; later_months != 0; later_months &= later_months - 1) {
        const year_month in = y / (mask::lowest(later_months) + 1);
        const local_days first{in / 1};
        const std::uint32_t found = days_in(cron, in, first);
        if (found != 0) return first + days{mask::lowest(found)} + minutes{cron.first_};
      }
    }
    return none_after;
  }

  [[gnu::always_inline]] static CivilMinute at_or_before(const CronExpression& cron,
                                                         CivilMinute from) noexcept {
    from = std::min(from, minute_max);
    if (from < minute_min) return none_before;
    const local_days today = std::chrono::floor<days>(from);
    const year_month_day date{today};
    const int month = static_cast<int>(unsigned{date.month()}) - 1;

    if ((cron.months_ >> month & 1) != 0) {
      const int day = static_cast<int>(unsigned{date.day()}) - 1;
      const std::uint32_t here =
          mask::up_to(days_in(cron, date.year() / date.month(), today - days{day}), day);
      if ((here >> day & 1) != 0) {
        const auto time = static_cast<int>((from - today).count());
        const int hour = time / 60;
        const int minute = time % 60;
        if ((cron.hours_ >> hour & 1) != 0) {
          const std::uint64_t earlier = mask::up_to(cron.minutes_, minute);
          if (earlier != 0) return from - minutes{minute - mask::highest(earlier)};
        }
        const std::uint32_t earlier = mask::up_to(cron.hours_, hour) & ~(1U << hour);
        if (earlier != 0) return today + minutes{mask::highest(earlier) * 60 + cron.last_ % 60};
      }
      const std::uint32_t earlier = here & ~(1U << day);
      if (earlier != 0) return today - days{day - mask::highest(earlier)} + minutes{cron.last_};
    }

    const year end = std::max(date.year() - without_match_max, year_min);
    unsigned earlier_months = cron.months_ & ~(~0U << month);
    for (year y = date.year(); y >= end; --y, earlier_months = cron.months_) {
      for (; earlier_months != 0; earlier_months &= ~(1U << mask::highest(earlier_months))) {
        const year_month in = y / (mask::highest(earlier_months) + 1);
        const local_days first{in / 1};
        const std::uint32_t found = days_in(cron, in, first);
        if (found != 0) return first + days{mask::highest(found)} + minutes{cron.last_};
      }
    }
    return none_before;
  }

  // The matching days of a month; bit 0 is its first day, which is `first`.
  static std::uint32_t days_in(const CronExpression& cron,
                               std::chrono::year_month month,
                               std::chrono::local_days first) noexcept {
    const unsigned length{(month / std::chrono::last).day()};
    const unsigned weekday = std::chrono::weekday{first}.c_encoding();
    return mask::up_to(cron.days_ | static_cast<std::uint32_t>(cron.weekdays_ >> weekday),
                       static_cast<int>(length) - 1);
  }

 private:
  using days = std::chrono::days;
  using local_days = std::chrono::local_days;
  using minutes = std::chrono::minutes;
  using year = std::chrono::year;
  using year_month = std::chrono::year_month;
  using year_month_day = std::chrono::year_month_day;

  // Every day of the year that exists recurs within eight years: 29 February was missing for that
  // long around 1900. A search that goes further would never end.
  static constexpr std::chrono::years without_match_max{8};
};

}  // namespace dutiful
