#include <absl/time/time.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <dutiful/calendar.h>

#include "support/allocations.h"
#include "support/cron_texts.h"
#include "support/pulse_walk.h"
#include "support/times.h"

namespace dutiful {
namespace {

using namespace std::chrono_literals;

const RepeatedMinutes both = RepeatedMinutes::both;
const RepeatedMinutes first_only = RepeatedMinutes::first_only;

// The occurrences of an expression after `from`, as text.
std::vector<std::string> occurrences(const char* text,
                                     const char* zone_name,
                                     const char* from,
                                     std::size_t count,
                                     RepeatedMinutes policy = both) {
  const Calendar calendar{Zone::load(zone_name), policy};
  const auto cron = CronExpression::parse(text);
  std::vector<std::string> found;
  for (Instant instant = at(from); found.size() < count;) {
    instant = calendar.next(cron, instant);
    found.push_back(format_second(instant, calendar.zone().offset_at(instant)));
  }
  return found;
}
using Times = std::vector<std::string>;

// T3
TEST(Dst, skipped_minute_does_not_run_that_day) {
  EXPECT_EQ(occurrences("30 2 * * *", "America/New_York", "2025-03-08T00:00:00-05:00", 2),
            (Times{"2025-03-08T02:30:00-05:00", "2025-03-10T02:30:00-04:00"}));
}

// T4
TEST(Dst, repeated_minute_runs_twice) {
  EXPECT_EQ(
      occurrences("30 1 * * *", "America/New_York", "2025-11-02T00:00:00-04:00", 3),
      (Times{
          "2025-11-02T01:30:00-04:00", "2025-11-02T01:30:00-05:00", "2025-11-03T01:30:00-05:00"}));
}
TEST(Dst, repeated_minute_runs_once_under_first_only) {
  EXPECT_EQ(
      occurrences("30 1 * * *", "America/New_York", "2025-11-02T00:00:00-04:00", 2, first_only),
      (Times{"2025-11-02T01:30:00-04:00", "2025-11-03T01:30:00-05:00"}));
}
TEST(Dst, every_minute_pauses_for_the_repeated_hour_under_first_only) {
  EXPECT_EQ(
      occurrences("* * * * *", "America/New_York", "2025-11-02T01:58:00-04:00", 2, first_only),
      (Times{"2025-11-02T01:59:00-04:00", "2025-11-02T02:00:00-05:00"}));
}

// T5
TEST(Dst, may_be_half_an_hour) {
  EXPECT_EQ(occurrences("15 2 * * *", "Australia/Lord_Howe", "2025-10-04T00:00:00+10:30", 2),
            (Times{"2025-10-04T02:15:00+10:30", "2025-10-06T02:15:00+11:00"}));
  EXPECT_EQ(occurrences("45 1 * * *", "Australia/Lord_Howe", "2025-04-06T00:00:00+11:00", 2),
            (Times{"2025-04-06T01:45:00+11:00", "2025-04-06T01:45:00+10:30"}));
}
TEST(Dst, may_skip_midnight) {
  EXPECT_EQ(occurrences("0 0 * * *", "America/Havana", "2025-03-08T00:00:00-05:00", 2),
            (Times{"2025-03-10T00:00:00-04:00", "2025-03-11T00:00:00-04:00"}));
}
TEST(Dst, may_skip_a_day) {
  EXPECT_EQ(occurrences("0 12 * * *", "Pacific/Apia", "2011-12-28T12:00:00-10:00", 2),
            (Times{"2011-12-29T12:00:00-10:00", "2011-12-31T12:00:00+14:00"}));
}
TEST(Dst, may_be_negative) {
  EXPECT_EQ(occurrences("30 1 * * *", "Europe/Dublin", "2025-10-26T00:00:00+01:00", 2),
            (Times{"2025-10-26T01:30:00+01:00", "2025-10-26T01:30:00+00:00"}));
}
TEST(Dst, may_be_suspended_for_ramadan) {
  EXPECT_EQ(occurrences("30 2 * * *", "Africa/Casablanca", "2025-02-22T12:00:00+01:00", 2),
            (Times{"2025-02-23T02:30:00+01:00", "2025-02-23T02:30:00+00:00"}));
  EXPECT_EQ(occurrences("30 2 * * *", "Africa/Casablanca", "2025-04-05T12:00:00+00:00", 1),
            (Times{"2025-04-07T02:30:00+01:00"}));
}
// The clocks jump from 02:00 to 03:00 and at 03:30 back to 02:30: 02:45 occurs once, 03:15 twice.
TEST(Dst, may_go_back_to_minutes_it_skipped) {
  const char* zone = "AAA0BBB-1,J100/2,J100/3:30";
  EXPECT_EQ(occurrences("45 2 10 4 *", zone, "2025-04-09T12:00:00Z", 1, first_only),
            (Times{"2025-04-10T02:45:00+00:00"}));
  EXPECT_EQ(occurrences("15 3 10 4 *", zone, "2025-04-09T12:00:00Z", 2, first_only),
            (Times{"2025-04-10T03:15:00+01:00", "2026-04-10T03:15:00+01:00"}));
  EXPECT_EQ(occurrences("15 3 10 4 *", zone, "2025-04-09T12:00:00Z", 2),
            (Times{"2025-04-10T03:15:00+01:00", "2025-04-10T03:15:00+00:00"}));
  const Calendar calendar{Zone::load(zone), first_only};
  EXPECT_EQ(calendar.previous(CronExpression::parse("45 2 * * *"), at("2025-04-10T20:00:00Z")),
            at("2025-04-10T02:45:00Z"));
}
TEST(Dst, continues_after_2038) {
  EXPECT_EQ(occurrences("0 12 * * *", "America/New_York", "2062-03-11T00:00:00-05:00", 2),
            (Times{"2062-03-11T12:00:00-05:00", "2062-03-12T12:00:00-04:00"}));
}

// T1: minutes start at second 0 of the local clock, whatever its offset.
TEST(Calendar, follows_offsets_that_are_not_whole_minutes) {
  EXPECT_EQ(occurrences("0 12 * * *", "Africa/Monrovia", "1971-06-01T00:00:00Z", 1),
            (Times{"1971-06-01T12:00:00-00:44:30"}));
  EXPECT_EQ(occurrences("* * * * *", "America/New_York", "1883-11-18T16:59:00Z", 3),
            (Times{"1883-11-18T12:03:00-04:56:02",
                   "1883-11-18T12:00:00-05:00",
                   "1883-11-18T12:01:00-05:00"}));
}

TEST(Calendar, is_strict_after_and_inclusive_before) {
  const Calendar calendar{Zone::load("America/New_York")};
  const auto cron = CronExpression::parse("0 12 * * *");
  const Instant noon = at("2025-06-01T12:00:00-04:00");
  EXPECT_EQ(calendar.next(cron, noon - 1ms), noon);
  EXPECT_EQ(calendar.next(cron, noon), noon + 24h);
  EXPECT_EQ(calendar.previous(cron, noon), noon);
  EXPECT_EQ(calendar.previous(cron, noon - 1ms), noon - 24h);
}

TEST(Calendar, finds_the_minutes_that_the_clocks_skipped) {
  const Calendar calendar{Zone::load("America/New_York")};
  const auto gaps = calendar.gaps(at("2025-01-01T00:00:00Z"), at("2025-12-31T00:00:00Z"));
  ASSERT_EQ(gaps.size(), 1);
  EXPECT_EQ(gaps[0].at, at("2025-03-09T07:00:00Z"));
  EXPECT_EQ(gaps[0].begin, civil("2025-03-09T02:00"));
  EXPECT_EQ(gaps[0].end, civil("2025-03-09T03:00"));
  EXPECT_TRUE(calendar.gaps(at("2025-03-09T07:00:00Z"), at("2025-12-31T00:00:00Z")).empty());
  EXPECT_EQ(calendar.gaps(at("2025-03-09T06:59:59.999Z"), at("2025-03-09T07:00:00Z")).size(), 1);
}

// C5
TEST(Calendar, throws_if_there_is_no_occurrence) {
  const Calendar calendar{Zone::load("America/New_York")};
  const auto never = CronExpression::parse("0 0 30 2 *");
  const Instant now = at("2025-06-01T12:00:00Z");
  EXPECT_THROW((void)calendar.next(never, now), CronCalculationError);
  EXPECT_THROW((void)calendar.previous(never, now), CronCalculationError);

  const auto every_minute = CronExpression::parse("* * * * *");
  EXPECT_THROW((void)calendar.next(every_minute, Instant::max()), CronCalculationError);
  EXPECT_THROW((void)calendar.previous(every_minute, Instant::min()), CronCalculationError);
  EXPECT_EQ(calendar.previous(every_minute, Instant::max()), at("9999-12-31T23:59:00-05:00"));
  EXPECT_EQ(calendar.next(every_minute, Instant::min()), at("0001-01-01T00:00:00-04:56:02"));
}

// The years end as the clocks of the zone show them: more than a day later than in UTC here.
TEST(Calendar, finds_the_last_minute_of_all_in_every_zone) {
  const auto every_minute = CronExpression::parse("* * * * *");
  const Instant last = at("9999-12-31T23:59:00Z") + 24h + 59min + 59s;
  const Calendar far_west{Zone::load("AAA24:59:59")};
  EXPECT_EQ(far_west.previous(every_minute, Instant::max()), last);
  EXPECT_EQ(far_west.next(every_minute, last - 1ms), last);
  EXPECT_FALSE(far_west.find_next(every_minute, last));
  EXPECT_EQ(far_west.count(every_minute, last - 60min, Instant::max()), 60);

  const Instant first = at("0001-01-01T00:00:00Z") - 24h - 59min - 59s;
  const Calendar far_east{Zone::load("AAA-24:59:59")};
  EXPECT_EQ(far_east.next(every_minute, Instant::min()), first);
  EXPECT_EQ(far_east.previous(every_minute, first), first);
  EXPECT_FALSE(far_east.find_previous(every_minute, first - 1ms));
  EXPECT_EQ(far_east.count(every_minute, Instant::min(), first + 59min), 60);
}

// T4: nothing later matches in the years that are searched, but the clocks go back to the minute.
TEST(Calendar, finds_a_repeated_minute_at_the_end_of_the_years) {
  const Calendar calendar{Zone::load("America/New_York")};
  const auto cron = CronExpression::parse("30 1 7 11 *");
  const Instant first = at("9999-11-07T01:30:00-04:00");
  EXPECT_EQ(calendar.next(cron, first - 1ms), first);
  EXPECT_EQ(calendar.next(cron, first), first + 1h);
  EXPECT_EQ(calendar.count(cron, first, Instant::max()), 1);
}
// … or went forward from it: the mirror image.
TEST(Calendar, finds_a_repeated_minute_at_the_beginning_of_the_years) {
  for (const RepeatedMinutes policy : {both, first_only}) {
    const Calendar calendar{Zone::load("EST5EDT,M3.2.0,M11.1.0"), policy};
    const auto cron = CronExpression::parse("30 1 4 11 *");
    const Instant first = at("0001-11-04T01:30:00-04:00");
    ASSERT_EQ(calendar.next(cron, Instant::min()), first);
    EXPECT_EQ(calendar.previous(cron, first + 59min), first);
    EXPECT_EQ(calendar.count(cron, Instant::min(), first + 59min), 1);
  }
}

// A rule can skip the same minute every year: 1 March 02:30 never occurs in this zone.
TEST(Calendar, gives_up_on_a_minute_that_every_year_skips) {
  const Calendar calendar{Zone::load("XXX3YYY,J60/2,J300/2")};
  const auto cron = CronExpression::parse("30 2 1 3 *");
  EXPECT_FALSE(calendar.find_next(cron, at("2025-06-01T12:00:00Z")));
  EXPECT_FALSE(calendar.find_previous(cron, at("2025-06-01T12:00:00Z")));
}

// Also beyond the zone's table, which is then folded back by 400 years.
TEST(Calendar, crosses_the_end_of_the_table) {
  const Calendar calendar{Zone::load("America/New_York")};
  const auto cron = CronExpression::parse("30 1 * * 0");
  Instant instant = at("2404-01-01T00:00:00Z");
  constexpr std::chrono::days cycle{146097};
  for (int i = 0; i < 2000; ++i) {
    const Instant next = calendar.next(cron, instant);
    ASSERT_GT(next, instant);
    ASSERT_EQ(calendar.next(cron, instant + cycle), next + cycle);
    ASSERT_EQ(calendar.previous(cron, next + cycle), next + cycle);
    ASSERT_LE(calendar.previous(cron, next + cycle - 1ms), instant + cycle);
    instant = next;
  }
}

TEST(Calendar, allocates_nothing) {
  const Calendar calendar{Zone::load("America/New_York")};
  const auto cron = CronExpression::parse("0 0 29 2 *");
  const std::uint64_t before = allocations();
  const auto next = calendar.find_next(cron, at("2025-06-01T12:00:00Z"));
  const auto previous = calendar.find_previous(cron, at("2025-06-01T12:00:00Z"));
  EXPECT_EQ(allocations(), before);
  EXPECT_TRUE(next && previous);
}

rc::Gen<std::string> zone_names() {
  return rc::gen::element<std::string>("America/New_York",
                                       "America/Havana",
                                       "America/St_Johns",
                                       "America/Nuuk",
                                       "Africa/Casablanca",
                                       "Africa/Cairo",
                                       "Antarctica/Troll",
                                       "Asia/Gaza",
                                       "Asia/Tehran",
                                       "Asia/Kathmandu",
                                       "Australia/Lord_Howe",
                                       "Europe/Dublin",
                                       "Pacific/Apia",
                                       "Pacific/Chatham");
}
rc::Gen<Instant> instants() {
  return rc::gen::map(
      rc::gen::inRange<std::int64_t>(at("2000-01-01T00:00:00Z").time_since_epoch().count(),
                                     at("2101-01-01T00:00:00Z").time_since_epoch().count()),
      [](std::int64_t milliseconds) { return Instant{Duration{milliseconds}}; });
}

// The twin looks at every minute of two weeks around the instant, and asks abseil for the zone.
RC_GTEST_PROP(Calendar, finds_what_the_pulse_walk_finds, ()) {
  const std::string text = *cron_texts();
  const std::string zone = *zone_names();
  const Instant from = *instants();
  const RepeatedMinutes policy = *rc::gen::element(both, first_only);
  const auto cron = CronExpression::parse(text);
  const Calendar calendar{Zone::load(zone), policy};
  constexpr std::chrono::days walked{7};
  const auto pulses =
      PulseWalk{text, absl_zone(zone), policy}.pulses(from - walked, from + walked, 60s);

  const auto after = std::ranges::upper_bound(pulses, from);
  const auto next = calendar.find_next(cron, from);
  RC_ASSERT((after != pulses.end() ? next == *after : !next || *next > from + walked));
  const auto previous = calendar.find_previous(cron, from);
  RC_ASSERT((after != pulses.begin() ? previous == *(after - 1)
                                     : !previous || *previous < from - walked));
}

// Rules out endless loops: every result is later than the start, and no occurrence is between them.
RC_GTEST_PROP(Calendar, always_advances, ()) {
  const auto cron = CronExpression::parse(*cron_texts());
  const Calendar calendar{Zone::load(*zone_names()), *rc::gen::element(both, first_only)};
  const Instant from = *instants();
  RC_PRE(!cron.never_matches());

  const auto next = calendar.find_next(cron, from);
  RC_ASSERT((next && *next > from));
  RC_ASSERT(calendar.find_previous(cron, *next) == next);
  const auto previous = calendar.find_previous(cron, *next - 1ms);
  RC_ASSERT((previous && *previous <= from));
  RC_ASSERT(calendar.find_next(cron, *previous) == next);
}

}  // namespace
}  // namespace dutiful
