#include "tasks/crontab_fields.h"

#include <cctype>
#include <cstdlib>
#include <set>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <dutiful/cron.h>

#include "support/times.h"

namespace dutiful {
namespace {

using testing::HasSubstr;

using Fields = std::array<std::string_view, 5>;

Fields split(std::string_view text) {
  Fields fields;
  for (auto& field : fields) {
    const auto end = std::min(text.find(' '), text.size());
    field = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return fields;
}

std::string posix(std::string_view text) {
  const auto result = to_posix(split(text));
  if (const auto* fault = std::get_if<NoEquivalent>(&result)) return "none: " + fault->reason;
  return std::get<std::string>(result);
}

// Vixie cron, implemented again from its manual with sets and strtol: the minutes of a year, in
// UTC, at which a line is due.
class NaiveVixie {
 public:
  explicit NaiveVixie(const Fields& fields)
      : minutes_(read(fields[0], 0, 59, {})),
        hours_(read(fields[1], 0, 23, {})),
        days_(read(fields[2], 1, 31, {})),
        months_(read(fields[3],
                     1,
                     12,
                     {"",
                      "jan",
                      "feb",
                      "mar",
                      "apr",
                      "may",
                      "jun",
                      "jul",
                      "aug",
                      "sep",
                      "oct",
                      "nov",
                      "dec"})),
        weekdays_(read(fields[4], 0, 7, {"sun", "mon", "tue", "wed", "thu", "fri", "sat"})),
        day_star_(fields[2][0] == '*'),
        weekday_star_(fields[4][0] == '*') {
    if (weekdays_.contains(7)) weekdays_.insert(0);
  }

  [[nodiscard]] bool is_due(CivilMinute minute) const {
    const auto day = std::chrono::floor<std::chrono::days>(minute);
    const std::chrono::year_month_day date{day};
    const auto of_day = (minute - day).count();
    if (!minutes_.contains(of_day % 60) || !hours_.contains(of_day / 60)) return false;
    if (!months_.contains(static_cast<long>(unsigned{date.month()}))) return false;
    const bool on_day = days_.contains(static_cast<long>(unsigned{date.day()}));
    const bool on_weekday = weekdays_.contains(std::chrono::weekday{day}.c_encoding());
    return day_star_ || weekday_star_ ? on_day && on_weekday : on_day || on_weekday;
  }

 private:
  static long value(std::string text, const std::vector<std::string>& names) {
    for (char& c : text) c = static_cast<char>(std::tolower(c));
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (text == names[i]) return static_cast<long>(i);
    }
    return std::strtol(text.c_str(), nullptr, 10);
  }

  static std::set<long> read(std::string_view field,
                             long low,
                             long high,
                             const std::vector<std::string>& names) {
    std::set<long> values;
    std::string text{field};
    text += ',';
    for (std::size_t comma = 0; (comma = text.find(',')) != text.npos; text.erase(0, comma + 1)) {
      std::string element = text.substr(0, comma);
      long step = 1;
      if (const auto slash = element.find('/'); slash != element.npos) {
        step = std::strtol(element.c_str() + slash + 1, nullptr, 10);
        element.resize(slash);
      }
      const auto hyphen = element.find('-');
      const long first = element == "*" ? low : value(element.substr(0, hyphen), names);
      const long last = element == "*"           ? high
                        : hyphen != element.npos ? value(element.substr(hyphen + 1), names)
                                                 : first;
      for (long v = first; v <= last; v += step) values.insert(v);
    }
    return values;
  }

  std::set<long> minutes_, hours_, days_, months_, weekdays_;
  bool day_star_, weekday_star_;
};

// Whether the expression is due at exactly the minutes of a year at which cron runs the fields.
testing::AssertionResult same_minutes(const Fields& fields, const std::string& expression) {
  const NaiveVixie vixie{fields};
  const auto cron = CronExpression::parse(expression);
  const CivilMinute end = civil("2025-01-01T00:00");
  for (CivilMinute minute = civil("2024-01-01T00:00"); minute < end;
       minute += std::chrono::minutes{1}) {
    if (vixie.is_due(minute) != cron.matches(minute)) {
      return testing::AssertionFailure() << expression << " differs at " << format_minute(minute);
    }
  }
  return testing::AssertionSuccess();
}

// Lines from real crontabs.
constexpr std::array real_lines{"* * * * *",
                                "*/5 * * * *",
                                "*/10 * * * *",
                                "*/15 * * * *",
                                "*/20 * * * *",
                                "*/30 * * * *",
                                "0 * * * *",
                                "17 * * * *",
                                "25 6 * * *",
                                "47 6 * * 7",
                                "52 6 1 * *",
                                "0 0 * * *",
                                "0 0 * * 0",
                                "0 0 1 * *",
                                "0 0 1 1 *",
                                "30 7 * * mon-fri",
                                "0 9-17 * * 1-5",
                                "*/5 9-17 * * mon-fri",
                                "0 */2 * * *",
                                "0 */6 * * *",
                                "15 */4 * * *",
                                "0 2 * * sun",
                                "0 2 * * Sun",
                                "0 2 * * 7",
                                "30 3 * * 6,7",
                                "0 4 * * 5-7",
                                "0 22 * * 1-5",
                                "23 0-23/2 * * *",
                                "5 4 * * sun",
                                "15 14 1 * *",
                                "0 0,12 1 */2 *",
                                "0 4 8-14 * *",
                                "0 4 8-14 * 1",
                                "0 0 1,15 * 3",
                                "0 0 1-31 * 1",
                                "0 0 1 * 1-7",
                                "0 0 1-31 * 0-6",
                                "0 0 */1 * 1",
                                "0 0 */1 * */1",
                                "30 4 1,15 * 5",
                                "5-55/10 * * * *",
                                "2-59/3 * * * *",
                                "1,31 * * * *",
                                "0-29/2,30-59/5 * * * *",
                                "7,22,37,52 * * * *",
                                "0 8,12,16,20 * * *",
                                "0 1 1 jan,jul *",
                                "0 1 * JAN-MAR *",
                                "0 6 * * tue,thu",
                                "10 3 * 1,4,7,10 *",
                                "09,39 * * * *",
                                "00 03 01 01 *",
                                "0 0 29 2 *",
                                "0 0 30 2 *",
                                "0 0 31 * *",
                                "*/7 */5 * * *",
                                "*/90 * * * *",
                                "0 0 * */3 *",
                                "0 0 * * */2",
                                "0 0 * * */7",
                                "0 0 * * 1-5/2",
                                "0 0 * * 0-7",
                                "0 0 * * 1,*",
                                "0 0 *,13 * 5",
                                "0 0 1-7/2 * 2",
                                "59 23 28-31 * *",
                                "0 0 1-31/2 * 1-5/4",
                                "* 0 1 1 0",
                                "3,18-20,40-50/5 1-5,9,22 * * *"};

TEST(CrontabFields, real_lines_keep_their_minutes) {
  static_assert(real_lines.size() >= 60);
  for (const char* line : real_lines) {
    const auto result = to_posix(split(line));
    ASSERT_TRUE(std::holds_alternative<std::string>(result)) << line << ' ' << posix(line);
    EXPECT_TRUE(same_minutes(split(line), std::get<std::string>(result))) << line;
  }
}

TEST(CrontabFields, expands_steps_names_and_weekday_seven) {
  EXPECT_EQ(posix("*/15 9-17 * * mon-fri"), "0,15,30,45 9-17 * * 1-5");
  EXPECT_EQ(posix("0 0 * * 7"), "0 0 * * 0");
  EXPECT_EQ(posix("0 0 * * 5-7"), "0 0 * * 0,5,6");
  EXPECT_EQ(posix("0 0 1 JAN,dec *"), "0 0 1 1,12 *");
  EXPECT_EQ(posix("0 0 * * */7"), "0 0 * * 0");
}

TEST(CrontabFields, keeps_the_day_rule_of_cron) {
  // Both restricted: either.
  EXPECT_EQ(posix("0 0 1 * 1"), "0 0 1 * 1");
  // One selects everything without a star: every day.
  EXPECT_EQ(posix("0 0 1-31 * 1"), "0 0 * * *");
  EXPECT_EQ(posix("0 0 1 * 0-6"), "0 0 * * *");
  // With a star: the other one decides.
  EXPECT_EQ(posix("0 0 */1 * 1"), "0 0 * * 1");
  EXPECT_EQ(posix("0 0 1 * */1"), "0 0 1 * *");
  // Begins with a star and is restricted: both must match, which POSIX cannot express.
  EXPECT_THAT(posix("0 0 */2 * 1"), HasSubstr("match both \"*/2\" and \"1\""));
  EXPECT_THAT(posix("0 0 1-7 * */7"), HasSubstr("match both"));
  EXPECT_THAT(posix("0 0 */2 * */2"), HasSubstr("match both"));
}

TEST(CrontabFields, has_no_equivalent_for_syntax_that_crons_read_differently) {
  struct Row {
    const char* text;
    const char* reason;
  };
  for (const auto& [text, reason] : std::initializer_list<Row>{
           {"5/15 * * * *", "the minute field \"5/15\" has a step after a single number"},
           {"0 22-2 * * *", "the hour field \"22-2\" has a backwards range"},
           {"0 0 * * fri-sun", "backwards range"},
           {"0~30 * * * *", "is a random time"},
           {"~ * * * *", "is a random time"},
           {"*~ * * * *", "is a random time"},
           {"60 * * * *", "out of range"},
           {"0 0 0 * *", "out of range"},
           {"0 0 * * 8", "out of range"},
           {"4294967296 * * * *", "out of range"},
           {"*/0 * * * *", "has a step of 0"},
           {"*/ * * * *", "has no step"},
           {"0 0 L * *", "is not valid in cron"},
           {"0 0 ? * *", "is not valid in cron"},
           {"0 0 * * mon#2", "is not valid in cron"},
           {"0 0 * * monday", "is not valid in cron"},
           {"0 0 * foo *", "is not valid in cron"},
           {"mon * * * *", "is not valid in cron"},
           {"1, * * * *", "is not valid in cron"},
           {"1- * * * *", "is not valid in cron"},
           {"-1 * * * *", "is not valid in cron"},
           {"*5 * * * *", "is not valid in cron"}}) {
    EXPECT_THAT(posix(text), HasSubstr(reason)) << text;
  }
}

// An element of a field with those bounds, as cron reads it.
rc::Gen<std::string> element(int low, int high) {
  return rc::gen::exec([low, high]() -> std::string {
    const int kind = *rc::gen::inRange(0, 5);
    const int first = *rc::gen::inRange(low, high + 1);
    const int last = *rc::gen::inRange(first, high + 1);
    const std::string step = '/' + std::to_string(*rc::gen::inRange(1, high + 3));
    const std::string range = std::to_string(first) + '-' + std::to_string(last);
    if (kind == 0) return "*";
    if (kind == 1) return '*' + step;
    if (kind == 2) return std::to_string(first);
    return kind == 3 ? range : range + step;
  });
}

RC_GTEST_PROP(CrontabFieldsProperty, any_fields_keep_their_minutes_or_have_no_equivalent, ()) {
  const auto field = [](int low, int high) {
    std::string text = *element(low, high);
    if (*rc::gen::inRange(0, 3) == 0) text += ',' + *element(low, high);
    return text;
  };
  // The day rule is the hard part; few minutes keep each case short.
  const std::string days = field(1, 31);
  const std::string months = field(1, 12);
  const std::string weekdays = field(0, 7);
  const Fields fields{"0", "12", days, months, weekdays};
  const auto result = to_posix(fields);
  const auto cron = std::holds_alternative<std::string>(result)
                        ? CronExpression::try_parse(std::get<std::string>(result))
                        : std::nullopt;
  const NaiveVixie vixie{fields};

  if (cron) {
    for (auto noon = civil("2024-01-01T12:00"); noon < civil("2025-01-01T00:00");
         noon += std::chrono::days{1}) {
      RC_ASSERT(vixie.is_due(noon) == cron->matches(noon));
    }
  } else {
    RC_ASSERT(days.starts_with('*') || weekdays.starts_with('*'));
  }
}

}  // namespace
}  // namespace dutiful
