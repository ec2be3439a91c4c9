#include "cron/count.h"

#include <algorithm>
#include <array>
#include <bit>

#include "cron/field.h"
#include "cron/search.h"

namespace dutiful {

using std::chrono::days;
using std::chrono::local_days;
using std::chrono::minutes;
using std::chrono::year;
using std::chrono::year_month_day;
using std::chrono::years;

CronCount::CronCount(const CronExpression& cron) noexcept
    : cron_(cron),
      fields_(cron.fields()),
      first_(mask::lowest(fields_.hours) * 60 + mask::lowest(fields_.minutes)),
      every_day_(fields_.days == day_field.all() && fields_.months == month_field.all()) {
  const int minutes_per_hour = std::popcount(fields_.minutes);
  for (std::size_t hour = 0; hour < 24; ++hour) {
    before_hour_[hour + 1] =
        before_hour_[hour] + ((fields_.hours >> hour & 1) != 0 ? minutes_per_hour : 0);
  }
}

std::int64_t CronCount::between(CivilMinute from, CivilMinute to) const noexcept {
  return from <= to ? count(from, to) : -count(to, from);
}

// The same. Requires from <= to.
std::int64_t CronCount::count(CivilMinute from, CivilMinute to) const noexcept {
  constexpr CivilMinute end = CronSearch::minute_max + minutes{1};
  from = std::clamp(from, CronSearch::minute_min, end);
  to = std::clamp(to, CronSearch::minute_min, end);
  const local_days first = std::chrono::floor<days>(from);
  if (to - first <= days{1}) {  // nearly always, if the clocks are set
    const int minutes_of_day = minutes_before(to - first) - minutes_before(from - first);
    return minutes_of_day != 0 && chooses(first) ? minutes_of_day : 0;
  }
  const local_days last = std::chrono::floor<days>(to);
  return days_between(first, last) * before_hour_.back() -
         (chooses(first) ? minutes_before(from - first) : 0) +
         (chooses(last) ? minutes_before(to - last) : 0);
}

bool CronCount::chooses(local_days day) const noexcept {
  return every_day_ || cron_.matches(day + first_);
}

// The selected minutes of a selected day before that time of day, which may be 24:00.
int CronCount::minutes_before(minutes time) const noexcept {
  const auto hour = static_cast<unsigned>(time.count()) / 60;
  const auto minute = static_cast<unsigned>(time.count()) % 60;
  const int before = before_hour_[hour];
  if (minute == 0 || (fields_.hours >> hour & 1) == 0) return before;
  return before + std::popcount(mask::below(fields_.minutes, minute));
}

// The selected days in [from, to).
std::int64_t CronCount::days_between(local_days from, local_days to) const noexcept {
  const year_month_day first{from};
  const year_month_day last{to};
  return days_of_years(first.year(), last.year()) - days_of_year_before(first) +
         days_of_year_before(last);
}

// The selected days of the years in [from, to).
std::int64_t CronCount::days_of_years(year from, year to) const noexcept {
  std::array<int, 14> of_kinds{};
  of_kinds.fill(-1);  // not counted yet
  const auto days_until = [&](year end) {
    std::int64_t count = 0;
    for (year y = from; y < end; ++y) {
      const unsigned weekday =  // of its first day, if weekdays matter
          fields_.weekdays == 0 ? 0 : std::chrono::weekday{local_days{y / 1 / 1}}.c_encoding();
      int& of_kind = of_kinds[y.is_leap() ? 7 + weekday : weekday];
      if (of_kind < 0) of_kind = days_of_months(y, fields_.months);
      count += of_kind;
    }
    return count;
  };
  // The calendar repeats every 400 years.
  constexpr years cycle{400};
  const auto cycles = (to - from) / cycle;
  return (cycles == 0 ? 0 : cycles * days_until(from + cycle)) + days_until(to - cycles * cycle);
}

// The selected days of a year in the months whose bit is set; bit n is month n.
int CronCount::days_of_months(year in, unsigned months) const noexcept {
  int count = 0;
  for (; months != 0; months &= months - 1) {
    const auto month = in / mask::lowest(months);
    count += std::popcount(CronSearch::days_in(cron_, month, local_days{month / 1}));
  }
  return count;
}

// The selected days of the date's year before the date.
int CronCount::days_of_year_before(year_month_day date) const noexcept {
  const unsigned month{date.month()};
  const int count = days_of_months(date.year(), mask::below(unsigned{fields_.months}, month));
  if ((fields_.months >> month & 1) == 0) return count;
  const auto here = date.year() / date.month();
  return count + std::popcount(mask::below(CronSearch::days_in(cron_, here, local_days{here / 1}),
                                           unsigned{date.day()} - 1));
}

}  // namespace dutiful
