// Calendar::count(), compared with a loop over next().

#include <algorithm>
#include <array>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <dutiful/calendar.h>

#include "support/allocations.h"
#include "support/cron_texts.h"
#include "support/times.h"

namespace dutiful {
namespace {

using namespace std::chrono_literals;

const RepeatedMinutes both = RepeatedMinutes::both;
const RepeatedMinutes first_only = RepeatedMinutes::first_only;

std::int64_t count(const char* text,
                   const char* zone,
                   const char* after,
                   const char* until,
                   RepeatedMinutes policy = both) {
  return Calendar{Zone::load(zone), policy}.count(
      CronExpression::parse(text), at(after), at(until));
}

TEST(Count, excludes_its_beginning_and_includes_its_end) {
  const Calendar calendar{Zone::load("America/New_York")};
  const auto cron = CronExpression::parse("0 12 * * *");
  const Instant noon = at("2025-06-01T12:00:00-04:00");
  EXPECT_EQ(calendar.count(cron, noon - 1ms, noon), 1);
  EXPECT_EQ(calendar.count(cron, noon, noon + 24h), 1);
  EXPECT_EQ(calendar.count(cron, noon, noon + 24h - 1ms), 0);
  EXPECT_EQ(calendar.count(cron, noon - 1ms, noon + 24h), 2);
}

TEST(Count, is_0_if_no_time_passes) {
  const Calendar calendar{Zone::load("America/New_York")};
  const auto cron = CronExpression::parse("* * * * *");
  const Instant noon = at("2025-06-01T12:00:00-04:00");
  EXPECT_EQ(calendar.count(cron, noon, noon), 0);
  EXPECT_EQ(calendar.count(cron, noon, noon - 24h), 0);
  EXPECT_EQ(calendar.count(cron, Instant::max(), Instant::min()), 0);
}

// The example of the header.
TEST(Count, counts_a_repeated_minute_twice_a_year) {
  EXPECT_EQ(count("30 1 * * *", "America/New_York", "2025-01-01T00:00:00Z", "2026-01-01T00:00:00Z"),
            366);
}

// T3, T4
TEST(Count, follows_the_clocks_across_dst) {
  const char* zone = "America/New_York";
  const char* spring = "2025-03-09T00:00:00-05:00";
  const char* after_spring = "2025-03-10T00:00:00-04:00";
  EXPECT_EQ(count("30 2 * * *", zone, spring, after_spring), 0);
  EXPECT_EQ(count("* * * * *", zone, spring, after_spring), 23 * 60);
  EXPECT_EQ(count("15 * * * *", zone, spring, after_spring), 23);

  const char* autumn = "2025-11-02T00:00:00-04:00";
  const char* after_autumn = "2025-11-03T00:00:00-05:00";
  EXPECT_EQ(count("30 1 * * *", zone, autumn, after_autumn), 2);
  EXPECT_EQ(count("30 1 * * *", zone, autumn, after_autumn, first_only), 1);
  EXPECT_EQ(count("* * * * *", zone, autumn, after_autumn), 25 * 60);
  EXPECT_EQ(count("* * * * *", zone, autumn, after_autumn, first_only), 24 * 60);
  // Both ends in the repeated hour, the later one showing an earlier time.
  EXPECT_EQ(count("* * * * *", zone, "2025-11-02T01:50:00-04:00", "2025-11-02T01:10:00-05:00"), 20);
  EXPECT_EQ(
      count(
          "* * * * *", zone, "2025-11-02T01:50:00-04:00", "2025-11-02T01:10:00-05:00", first_only),
      9);
}

// T5
TEST(Count, follows_any_rule_of_a_zone) {
  EXPECT_EQ(count("* * * * *",
                  "Australia/Lord_Howe",
                  "2025-10-05T00:00:00+10:30",
                  "2025-10-06T00:00:00+11:00"),
            24 * 60 - 30);
  EXPECT_EQ(count("* * * * *",
                  "Australia/Lord_Howe",
                  "2025-04-06T00:00:00+11:00",
                  "2025-04-07T00:00:00+10:30"),
            24 * 60 + 30);
  // There was no 30 December, a Friday.
  const char* before = "2011-12-01T00:00:00-10:00";
  const char* after = "2012-01-01T00:00:00+14:00";
  EXPECT_EQ(count("0 12 * * *", "Pacific/Apia", before, after), 30);
  EXPECT_EQ(count("0 12 30 12 *", "Pacific/Apia", before, after), 0);
  EXPECT_EQ(count("0 12 * * 5", "Pacific/Apia", before, after), 4);
}

// The clocks jump from 02:00 to 03:00 and at 03:30 back to 02:30: 02:45 occurs once, 03:15 twice.
TEST(Count, follows_clocks_that_go_back_to_minutes_they_skipped) {
  const char* zone = "AAA0BBB-1,J100/2,J100/3:30";
  const char* begin = "2025-04-10T00:00:00Z";
  const char* end = "2025-04-11T00:00:00Z";
  for (const RepeatedMinutes policy : {both, first_only}) {
    EXPECT_EQ(count("15 2 * * *", zone, begin, end, policy), 0);
    EXPECT_EQ(count("45 2 * * *", zone, begin, end, policy), 1);
  }
  EXPECT_EQ(count("15 3 * * *", zone, begin, end), 2);
  EXPECT_EQ(count("15 3 * * *", zone, begin, end, first_only), 1);
}

// T1: 12:03:57 is followed by 12:00:00, so that four minutes start twice. Monrovia was 44 min 30 s
// behind UTC until a midnight that was followed by 00:44:30: 00:45 is the first minute to start.
TEST(Count, follows_offsets_that_are_not_whole_minutes) {
  EXPECT_EQ(count("* * * * *", "America/New_York", "1883-11-18T16:00:00Z", "1883-11-18T18:00:00Z"),
            121);
  EXPECT_EQ(
      count("0-3 12 * * *", "America/New_York", "1883-11-18T12:00:00Z", "1883-11-19T12:00:00Z"), 8);
  EXPECT_EQ(count("0-3 12 * * *",
                  "America/New_York",
                  "1883-11-18T12:00:00Z",
                  "1883-11-19T12:00:00Z",
                  first_only),
            4);
  EXPECT_EQ(count("* * * * *", "Africa/Monrovia", "1971-06-01T12:00:30Z", "1971-06-01T12:01:30Z"),
            1);
  EXPECT_EQ(count("* 0 * * *", "Africa/Monrovia", "1972-01-06T12:00:00Z", "1972-01-07T12:00:00Z"),
            15);
}

// C5
TEST(Count, is_0_for_what_is_never_due) {
  const Calendar calendar{Zone::load("America/New_York")};
  EXPECT_EQ(calendar.count(CronExpression::parse("0 0 30 2 *"), Instant::min(), Instant::max()), 0);
  // A rule can skip the same minute every year: 1 March 02:30 never occurs in this zone.
  const Calendar swallowing{Zone::load("XXX3YYY,J60/2,J300/2")};
  EXPECT_EQ(swallowing.count(CronExpression::parse("30 2 1 3 *"), Instant::min(), Instant::max()),
            0);
}

TEST(Count, covers_the_years_1_to_9999_only) {
  const auto every_minute = CronExpression::parse("* * * * *");
  const auto leap_day = CronExpression::parse("0 12 29 2 *");
  constexpr std::int64_t leap_days = 9999 / 4 - 9999 / 100 + 9999 / 400;
  constexpr std::int64_t days_in_all = std::int64_t{9999} * 365 + leap_days;
  const Calendar utc{Zone::utc()};
  EXPECT_EQ(utc.count(every_minute, Instant::min(), Instant::max()), days_in_all * 24 * 60);
  EXPECT_EQ(utc.count(leap_day, Instant::min(), Instant::max()), leap_days);
  const Instant first = at("0001-01-01T00:00:00Z");
  const Instant last = at("9999-12-31T23:59:00Z");
  EXPECT_EQ(utc.count(every_minute, Instant::min(), first), 1);
  EXPECT_EQ(utc.count(every_minute, Instant::min(), first - 1ms), 0);
  EXPECT_EQ(utc.count(every_minute, last - 1ms, Instant::max()), 1);
  EXPECT_EQ(utc.count(every_minute, last, Instant::max()), 0);

  // A minute starts every 60 s in this zone, except that the first to have a whole offset starts
  // early.
  const Calendar new_york{Zone::load("America/New_York")};
  const Instant begin = at("0001-01-01T00:00:00-04:56:02");
  const Instant end = at("9999-12-31T23:59:00-05:00");
  EXPECT_EQ(new_york.count(every_minute, Instant::min(), Instant::max()),
            1 + std::chrono::ceil<std::chrono::minutes>(end - begin).count());
}

// Also beyond the zone's table, which is then folded back by 400 years.
TEST(Count, crosses_the_end_of_the_table) {
  constexpr std::chrono::days cycle{146097};
  const Instant begin = at("2404-01-01T00:00:00Z");
  for (const RepeatedMinutes policy : {both, first_only}) {
    const Calendar calendar{Zone::load("America/New_York"), policy};
    const auto cron = CronExpression::parse("30 1 * * 0");
    const std::int64_t whole = calendar.count(cron, begin, begin + cycle);
    std::int64_t walked = 0;
    for (Instant instant = begin; walked < 500; ++walked) {
      ASSERT_EQ(calendar.count(cron, begin, instant), walked);
      ASSERT_EQ(calendar.count(cron, begin + 3 * cycle, instant + 3 * cycle), walked);
      ASSERT_EQ(calendar.count(cron, begin - cycle, instant + cycle), 2 * whole + walked);
      instant = calendar.next(cron, instant);
    }
  }
}

TEST(Count, allocates_nothing) {
  const Calendar calendar{Zone::load("America/New_York")};
  const auto cron = CronExpression::parse("*  * 13 * 5");
  const std::uint64_t before = allocations();
  const std::int64_t counted = calendar.count(cron, Instant::min(), Instant::max());
  EXPECT_EQ(allocations(), before);
  EXPECT_GT(counted, 0);
}

rc::Gen<Calendar> calendars() {
  const auto zones = rc::gen::element<std::string>("UTC",
                                                   "America/New_York",
                                                   "America/Havana",
                                                   "America/St_Johns",
                                                   "America/Nuuk",
                                                   "America/Santiago",
                                                   "Africa/Casablanca",
                                                   "Africa/Cairo",
                                                   "Africa/Monrovia",
                                                   "Antarctica/Troll",
                                                   "Asia/Gaza",
                                                   "Asia/Manila",
                                                   "Asia/Tehran",
                                                   "Asia/Kathmandu",
                                                   "Australia/Lord_Howe",
                                                   "Europe/Dublin",
                                                   "Pacific/Apia",
                                                   "Pacific/Chatham",
                                                   "AAA0BBB-1,J100/2,J100/3:30",
                                                   "AAA24:59:59BBB-24:59:59,J1/0,J2/0",
                                                   "XXX3YYY,J60/2,J300/2");
  return rc::gen::map(rc::gen::pair(zones, rc::gen::element(both, first_only)), [](const auto& of) {
    return Calendar{Zone::load(of.first), of.second};
  });
}
rc::Gen<Instant> instants(const char* begin, const char* end) {
  return rc::gen::map(rc::gen::inRange<std::int64_t>(at(begin).time_since_epoch().count(),
                                                     at(end).time_since_epoch().count()),
                      [](std::int64_t milliseconds) { return Instant{Duration{milliseconds}}; });
}

// Bounds the steps of the loop, however dense the expression.
RC_GTEST_PROP(Count, is_what_a_loop_over_next_counts, ()) {
  const auto cron = CronExpression::parse(*cron_texts());
  const Calendar calendar = *calendars();
  const Instant after = *rc::gen::oneOf(instants("0001-01-01T00:00:00Z", "0002-01-01T00:00:00Z"),
                                        instants("1840-01-01T00:00:00Z", "2600-01-01T00:00:00Z"),
                                        instants("9995-01-01T00:00:00Z", "9999-12-31T00:00:00Z"));
  const auto steps = *rc::gen::inRange<std::int64_t>(0, 300);
  Instant last = after;
  for (std::int64_t walked = 0; walked <= steps; ++walked) {
    RC_ASSERT(calendar.count(cron, after, last) == walked);
    const auto next = calendar.find_next(cron, last);
    if (!next) {
      RC_ASSERT(calendar.count(cron, after, Instant::max()) == walked);
      break;
    }
    RC_ASSERT(calendar.count(cron, after, *next - 1ms) == walked);
    last = *next;
  }
}

RC_GTEST_PROP(Count, of_a_whole_is_the_sum_of_its_parts, ()) {
  const auto cron = CronExpression::parse(*cron_texts());
  const Calendar calendar = *calendars();
  const auto anywhere = instants("0001-01-01T00:00:00Z", "9999-12-31T00:00:00Z");
  std::array<Instant, 3> order{*anywhere, *anywhere, *anywhere};
  std::ranges::sort(order);
  const auto [a, b, c] = order;
  RC_ASSERT(calendar.count(cron, a, c) == calendar.count(cron, a, b) + calendar.count(cron, b, c));
}

}  // namespace
}  // namespace dutiful
