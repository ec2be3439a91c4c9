// Schedules as bit masks of civil minutes.

#include <algorithm>

#include <dutiful/cron.h>

#include "cron/cause.h"
#include "cron/field.h"
#include "cron/search.h"
#include "time/iso8601.h"

namespace dutiful {
namespace {

using std::chrono::days;
using std::chrono::local_days;
using std::chrono::minutes;
using std::chrono::year_month_day;

constexpr std::uint64_t all_days = day_field.all();
constexpr std::uint64_t all_weekdays = weekday_field.all();

// A seven-bit week, repeated six times: enough for any month, whatever its first weekday.
constexpr std::uint64_t six_weeks(std::uint64_t week) {
  return week * (1 | 1ULL << 7 | 1ULL << 14 | 1ULL << 21 | 1ULL << 28 | 1ULL << 35);
}

}  // namespace

CronExpression::CronExpression(const Fields& fields) noexcept
    : minutes_(fields.minutes),
      weekdays_(six_weeks(fields.weekdays)),
      hours_(fields.hours),
      days_(fields.days >> 1),
      months_(static_cast<std::uint16_t>(fields.months >> 1)),
      first_(static_cast<std::uint16_t>(mask::lowest(hours_) * 60 + mask::lowest(minutes_))),
      last_(static_cast<std::uint16_t>(mask::highest(hours_) * 60 + mask::highest(minutes_))) {
  // "Any of these, or every day" is every day: one schedule, one value.
  if (fields.days == all_days || fields.weekdays == all_weekdays) {
    days_ = all_days >> 1;
    weekdays_ = 0;
  }
}

CronExpression::Fields CronExpression::fields() const noexcept {
  return {.minutes = minutes_,
          .hours = hours_,
          .days = days_ << 1,
          .months = static_cast<std::uint16_t>(months_ << 1),
          .weekdays = static_cast<std::uint8_t>(weekdays_ & all_weekdays)};
}

std::string CronExpression::to_string() const {
  const Fields f = fields();
  return print_field(minute_field, f.minutes) + ' ' + print_field(hour_field, f.hours) + ' ' +
         print_field(day_field, f.days == 0 ? all_days : f.days) + ' ' +
         print_field(month_field, f.months) + ' ' +
         print_field(weekday_field, f.weekdays == 0 ? all_weekdays : f.weekdays);
}

bool CronExpression::never_matches() const noexcept {
  return !find_at_or_after(CronSearch::minute_min);
}

bool CronExpression::matches(CivilMinute minute) const noexcept {
  if (minute < CronSearch::minute_min || minute > CronSearch::minute_max) return false;
  const local_days day = std::chrono::floor<days>(minute);
  const auto time = static_cast<unsigned>((minute - day).count());
  if ((minutes_ >> (time % 60) & 1) == 0 || (hours_ >> (time / 60) & 1) == 0) return false;

  const year_month_day date{day};
  const unsigned weekday = std::chrono::weekday{day}.c_encoding();
  return (months_ >> (unsigned{date.month()} - 1) & 1) != 0 &&
         ((days_ >> (unsigned{date.day()} - 1) & 1) != 0 || (weekdays_ >> weekday & 1) != 0);
}

std::optional<CivilMinute> CronExpression::find_at_or_after(CivilMinute from) const noexcept {
  const CivilMinute found = CronSearch::at_or_after(*this, from);
  if (found == CronSearch::none_after) return std::nullopt;
  return found;
}

std::optional<CivilMinute> CronExpression::find_at_or_before(CivilMinute from) const noexcept {
  const CivilMinute found = CronSearch::at_or_before(*this, from);
  if (found == CronSearch::none_before) return std::nullopt;
  return found;
}

CivilMinute CronExpression::next(CivilMinute after, std::string_view text) const {
  const CivilMinute from = after < CronSearch::minute_min   ? CronSearch::minute_min
                           : after < CronSearch::minute_max ? after + minutes{1}
                                                            : CivilMinute::max();
  if (const auto found = find_at_or_after(from)) return *found;
  after = std::clamp(after, CronSearch::minute_min, CronSearch::minute_max);
  throw no_occurrence_from(format_minute(after), *this, text, Direction::next);
}

CivilMinute CronExpression::previous(CivilMinute from, std::string_view text) const {
  if (const auto found = find_at_or_before(from)) return *found;
  from = std::clamp(from, CronSearch::minute_min, CronSearch::minute_max);
  throw no_occurrence_from(format_minute(from), *this, text, Direction::previous);
}

}  // namespace dutiful
