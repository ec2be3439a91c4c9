#include "cron/english.h"

#include <bit>
#include <string_view>
#include <vector>

#include "cron/field.h"

namespace dutiful {
namespace {

// More times of day than this are described rather than listed.
constexpr int listed_times_max = 6;

std::vector<unsigned> values_of(std::uint64_t mask) {
  std::vector<unsigned> values;
  for (const ValueRun& run : runs_of(mask)) {
    for (unsigned value = run.low; value <= run.high; ++value) values.push_back(value);
  }
  return values;
}

// a; a and b; a, b and c
std::string join(const std::vector<std::string>& parts) {
  std::string out;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) out += i + 1 == parts.size() ? " and " : ", ";
    out += parts[i];
  }
  return out;
}

// Lists each value, but three or more consecutive ones as "a through c".
template <typename Name>
std::string list(std::uint64_t mask, Name name) {
  std::vector<std::string> parts;
  for (const ValueRun& run : runs_of(mask)) {
    if (run.high - run.low >= 2) {
      parts.push_back(name(run.low) + " through " + name(run.high));
    } else {
      for (unsigned value = run.low; value <= run.high; ++value) parts.push_back(name(value));
    }
  }
  return join(parts);
}

std::string two_digits(unsigned value) {
  return (value < 10 ? "0" : "") + std::to_string(value);
}
std::string clock_time(unsigned hour, unsigned minute) {
  return two_digits(hour) + ':' + two_digits(minute);
}
std::string number(unsigned value) {
  return std::to_string(value);
}

std::string ordinal(unsigned value) {
  const unsigned last = value % 10;
  const bool teen = value / 10 == 1;
  const std::string_view ending = teen        ? "th"
                                  : last == 1 ? "st"
                                  : last == 2 ? "nd"
                                  : last == 3 ? "rd"
                                              : "th";
  return std::to_string(value).append(ending);
}

// The k of "every k": the values are 0, k, 2k, … up to `size`, which k divides. Otherwise 0.
unsigned step_of(std::uint64_t mask, unsigned size) {
  const auto values = values_of(mask);
  if (values.size() < 2 || values[0] != 0 || size % values[1] != 0) return 0;
  std::uint64_t stepped = 0;
  for (unsigned value = 0; value < size; value += values[1]) stepped |= std::uint64_t{1} << value;
  return stepped == mask ? values[1] : 0;
}

std::string past(std::uint64_t minutes) {
  const bool one = minutes == std::uint64_t{1} << 1;
  return list(minutes, number) + (one ? " minute past" : " minutes past");
}

// The phrase, and whether it already says that the time recurs within a day.
struct TimePhrase {
  std::string text;
  bool recurs;
};

TimePhrase all_day(std::uint64_t minutes) {
  if (minutes == minute_field.all()) return {"Every minute", true};
  if (minutes == 1) return {"Every hour, on the hour", true};
  if (const unsigned step = step_of(minutes, 60)) {
    return {"Every " + std::to_string(step) + " minutes", true};
  }
  return {"At " + past(minutes) + " every hour", true};
}

TimePhrase time_phrase(std::uint64_t minutes, std::uint64_t hours) {
  if (hours == hour_field.all()) return all_day(minutes);

  if (std::popcount(minutes) * std::popcount(hours) <= listed_times_max) {
    std::vector<std::string> times;
    for (const unsigned hour : values_of(hours)) {
      for (const unsigned minute : values_of(minutes)) times.push_back(clock_time(hour, minute));
    }
    return {"At " + join(times), false};
  }

  const auto hour_runs = runs_of(hours);
  const bool one_stretch = hour_runs.size() == 1;
  const unsigned step = minutes == minute_field.all() ? 1 : step_of(minutes, 60);
  if (one_stretch && (step != 0 || minutes == 1)) {
    const auto last = static_cast<unsigned>(std::bit_width(minutes)) - 1;
    const std::string unit = minutes == 1 ? "hour"
                             : step == 1  ? "minute"
                                          : std::to_string(step) + " minutes";
    return {"Every " + unit + " from " + clock_time(hour_runs[0].low, 0) + " through " +
                clock_time(hour_runs[0].high, last),
            true};
  }
  const unsigned hour_step = step_of(hours, 24);
  if (hour_step != 0 && minutes == 1)
    return {"Every " + std::to_string(hour_step) + " hours", true};

  const std::string of_hours =
      hour_step != 0 ? "every " + ordinal(hour_step) + " hour from 00:00"
                     : (std::popcount(hours) == 1 ? "hour " : "hours ") + list(hours, number);
  if (minutes == minute_field.all()) return {"Every minute of " + of_hours, true};
  return {"At " + past(minutes) + ' ' + of_hours, true};
}

// Monday is 1 and Sunday is 7, so that a weekend is one range.
std::uint64_t monday_first(std::uint64_t weekdays) {
  return (weekdays & ~std::uint64_t{1}) | (weekdays & 1) << 7;
}

std::string weekday_phrase(std::uint64_t weekdays) {
  const std::uint64_t mask = monday_first(weekdays);
  const auto runs = runs_of(mask);
  const bool one_stretch = runs.size() == 1 && runs[0].high - runs[0].low >= 2;
  const auto name = [](unsigned value) { return std::string{names_of(Field::weekday)[value % 7]}; };
  return (one_stretch ? "" : "every ") + list(mask, name);
}

std::string month_list(std::uint64_t months) {
  return list(months, [](unsigned value) {
    return std::string{names_of(Field::month)[value - month_field.min]};
  });
}

std::string in_months(std::uint64_t months) {
  if (months == month_field.all()) return "";
  const auto runs = runs_of(months);
  const bool one_stretch = runs.size() == 1 && runs[0].high - runs[0].low >= 2;
  return (one_stretch ? " from " : " in ") + month_list(months);
}

std::string day_phrase(const CronExpression::Fields& fields, bool recurs) {
  const bool every_month = fields.months == month_field.all();
  const std::string days = "on the " + list(fields.days, ordinal);

  if (fields.days == day_field.all()) {
    if (every_month && recurs) return "";
    return "every day" + in_months(fields.months);
  }
  if (fields.days == 0) return weekday_phrase(fields.weekdays) + in_months(fields.months);
  if (fields.weekdays == 0) {
    const std::string months = in_months(fields.months);
    const bool of_these = months.starts_with(" in ");
    return days + " of " + (of_these ? month_list(fields.months) : "every month" + months);
  }
  if (every_month) return days + " of every month and also " + weekday_phrase(fields.weekdays);
  return days + " and also " + weekday_phrase(fields.weekdays) + ',' + in_months(fields.months);
}

}  // namespace

std::string to_english(const CronExpression& cron) {
  const CronExpression::Fields fields = cron.fields();
  const TimePhrase time = time_phrase(fields.minutes, fields.hours);
  const std::string day = day_phrase(fields, time.recurs);
  return day.empty() ? time.text : time.text + ", " + day;
}

}  // namespace dutiful
