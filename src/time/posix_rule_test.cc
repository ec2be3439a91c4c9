#include "time/posix_rule.h"

#include <gtest/gtest.h>

namespace dutiful {
namespace {

using namespace std::chrono_literals;
using std::chrono::local_days;
using std::chrono::sys_days;

TEST(PosixRule, reads_a_zone_without_daylight_time) {
  const auto rule = parse_posix_rule("JST-9");
  ASSERT_TRUE(rule);
  EXPECT_EQ(rule->standard, 9h);
  EXPECT_FALSE(rule->daylight);

  EXPECT_EQ(parse_posix_rule("<+0545>-5:45")->standard, 5h + 45min);
  EXPECT_EQ(parse_posix_rule("LMT4:56:02")->standard, -(4h + 56min + 2s));
  EXPECT_EQ(parse_posix_rule("UTC0")->standard, 0h);
  EXPECT_EQ(parse_posix_rule("UTC+0")->standard, 0h);
}

TEST(PosixRule, knows_when_daylight_time_begins_and_ends) {
  const auto rule = parse_posix_rule("EST5EDT,M3.2.0,M11.1.0");
  ASSERT_TRUE(rule && rule->daylight);
  EXPECT_EQ(rule->daylight->offset, -4h);

  const auto [spring, autumn] = rule->transitions_in(2025y);
  EXPECT_EQ(spring.at, sys_days{2025y / 3 / 9} + 7h);
  EXPECT_EQ(spring.offset, -4h);
  EXPECT_EQ(autumn.at, sys_days{2025y / 11 / 2} + 6h);
  EXPECT_EQ(autumn.offset, -5h);
}

TEST(PosixRule, reads_the_last_weekday_and_a_time) {
  const auto rule = parse_posix_rule("CET-1CEST,M3.5.0,M10.5.0/3");
  ASSERT_TRUE(rule && rule->daylight);
  EXPECT_EQ(rule->daylight->end.in(2025y), local_days{2025y / 10 / 26} + 3h);
}

// A southern summer includes New Year, so its end comes first in a civil year.
TEST(PosixRule, orders_the_transitions_of_a_southern_year) {
  const auto rule = parse_posix_rule("<+1030>-10:30<+11>-11,M10.1.0,M4.1.0");
  ASSERT_TRUE(rule && rule->daylight);
  const auto [autumn, spring] = rule->transitions_in(2025y);
  EXPECT_LT(autumn.at, spring.at);
  EXPECT_EQ(autumn.offset, 10h + 30min);
  EXPECT_EQ(spring.offset, 11h);
}

// Ireland's winter time is its "daylight" time, an hour less (negative DST).
TEST(PosixRule, reads_negative_daylight_time) {
  const auto rule = parse_posix_rule("IST-1GMT0,M10.5.0,M3.5.0/1");
  ASSERT_TRUE(rule && rule->daylight);
  EXPECT_EQ(rule->standard, 1h);
  EXPECT_EQ(rule->daylight->offset, 0h);
}

// RFC 8536 allows hours from -167 to 167.
TEST(PosixRule, reads_times_outside_the_day) {
  const auto rule = parse_posix_rule("<-02>2<-01>,M3.5.0/-1,M10.5.0/0");
  ASSERT_TRUE(rule && rule->daylight);
  EXPECT_EQ(rule->daylight->start.in(2025y), local_days{2025y / 3 / 29} + 23h);
  EXPECT_EQ(parse_posix_rule("XXX0YYY,M3.1.0/167,J300")->daylight->start.time, 167h);
  EXPECT_FALSE(parse_posix_rule("XXX0YYY,M3.1.0/168,J300"));
}

TEST(PosixRule, counts_29_february_in_one_notation_only) {
  const auto rule = parse_posix_rule("XXX0YYY,J60/0,59/0");
  ASSERT_TRUE(rule && rule->daylight);
  const auto& [offset, without_leap_day, with_leap_day] = *rule->daylight;
  EXPECT_EQ(without_leap_day.in(2023y), local_days{2023y / 3 / 1});
  EXPECT_EQ(without_leap_day.in(2024y), local_days{2024y / 3 / 1});
  EXPECT_EQ(with_leap_day.in(2023y), local_days{2023y / 3 / 1});
  EXPECT_EQ(with_leap_day.in(2024y), local_days{2024y / 2 / 29});
}

TEST(PosixRule, rejects_malformed_rules) {
  for (const char* text : {"",
                           "E5",
                           "ES5",
                           "EST",
                           "5",
                           "<+3>-3>",
                           "<+03-3",
                           "EST25",
                           "EST5:60",
                           "EST5EDT",  // POSIX does not say when daylight time begins
                           "EST5EDT4",
                           "EST5EDT,",
                           "EST5EDT,M3.2.0",
                           "EST5EDT,M3.2.0,",
                           "EST5EDT,M13.2.0,M11.1.0",
                           "EST5EDT,M3.6.0,M11.1.0",
                           "EST5EDT,M3.2.7,M11.1.0",
                           "EST5EDT,M3.2,M11.1.0",
                           "EST5EDT,J0,J300",
                           "EST5EDT,J366,J300",
                           "EST5EDT,366,300",
                           "EST5EDT,M3.2.0,M11.1.0x",
                           "EST5EDT,M3.2.0/,M11.1.0",
                           "America/New_York"}) {
    EXPECT_FALSE(parse_posix_rule(text)) << text;
  }
}

}  // namespace
}  // namespace dutiful
