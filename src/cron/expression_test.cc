#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <dutiful/calendar.h>
#include <dutiful/cron.h>

#include "support/cron_texts.h"
#include "support/naive_cron.h"
#include "support/times.h"

namespace dutiful {
namespace {

using namespace std::chrono_literals;
using std::chrono::local_days;

CivilMinute next(const char* text, const char* after) {
  return CronExpression::parse(text).next(civil(after));
}
CivilMinute previous(const char* text, const char* from) {
  return CronExpression::parse(text).previous(civil(from));
}

rc::Gen<CivilMinute> civil_minutes() {
  const CivilMinute begin = local_days{2000y / 1 / 1};
  const CivilMinute end = local_days{2101y / 1 / 1};
  return rc::gen::map(
      rc::gen::inRange<std::int64_t>(0, (end - begin).count()),
      [begin](std::int64_t minute) { return begin + std::chrono::minutes{minute}; });
}

TEST(Expression, next_is_strictly_after_and_previous_at_or_before) {
  EXPECT_EQ(next("15 3 * * *", "2025-03-10T03:14"), civil("2025-03-10T03:15"));
  EXPECT_EQ(next("15 3 * * *", "2025-03-10T03:15"), civil("2025-03-11T03:15"));
  EXPECT_EQ(previous("15 3 * * *", "2025-03-10T03:15"), civil("2025-03-10T03:15"));
  EXPECT_EQ(previous("15 3 * * *", "2025-03-10T03:14"), civil("2025-03-09T03:15"));
}

TEST(Expression, carries_from_minutes_to_years) {
  EXPECT_EQ(next("5 * * * *", "2025-12-31T23:05"), civil("2026-01-01T00:05"));
  EXPECT_EQ(next("0 0 31 * *", "2025-01-31T00:00"), civil("2025-03-31T00:00"));
  EXPECT_EQ(previous("0 0 31 * *", "2025-03-30T00:00"), civil("2025-01-31T00:00"));
  EXPECT_EQ(previous("59 23 31 12 *", "2025-06-01T00:00"), civil("2024-12-31T23:59"));
}

// C4: if both day and weekday are restricted, either may match.
TEST(Expression, joins_day_and_weekday_by_or) {
  const auto friday_or_13th = CronExpression::parse("0 0 13 * 5");
  EXPECT_TRUE(friday_or_13th.matches(civil("2025-03-13T00:00")));  // a Thursday
  EXPECT_TRUE(friday_or_13th.matches(civil("2025-03-14T00:00")));  // a Friday
  EXPECT_FALSE(friday_or_13th.matches(civil("2025-03-15T00:00")));

  const auto friday = CronExpression::parse("0 0 * * 5");
  EXPECT_FALSE(friday.matches(civil("2025-03-13T00:00")));
  const auto the_13th = CronExpression::parse("0 0 13 * *");
  EXPECT_FALSE(the_13th.matches(civil("2025-03-14T00:00")));

  // 1-31 is not literally a star.
  const auto every_day = CronExpression::parse("0 0 1-31 * 5");
  EXPECT_TRUE(every_day.matches(civil("2025-03-12T00:00")));
}

TEST(Expression, finds_29_february_across_a_century_without_one) {
  EXPECT_EQ(next("0 0 29 2 *", "2096-02-29T00:00"), civil("2104-02-29T00:00"));
  EXPECT_EQ(previous("0 0 29 2 *", "2104-02-28T23:59"), civil("2096-02-29T00:00"));
  EXPECT_EQ(next("0 0 29 2 *", "1896-02-29T00:00"), civil("1904-02-29T00:00"));
  EXPECT_EQ(next("0 0 29 2 *", "1996-02-29T00:00"), civil("2000-02-29T00:00"));
}

// C5
TEST(Expression, may_never_match) {
  for (const char* text : {"0 0 30 2 *", "0 0 31 2,4,6,9,11 *", "* * 30,31 2 *", "59 23 31 11 *"}) {
    const auto cron = CronExpression::parse(text);
    EXPECT_TRUE(cron.never_matches()) << text;
    EXPECT_FALSE(cron.find_at_or_after(civil("2025-01-01T00:00"))) << text;
    EXPECT_FALSE(cron.find_at_or_before(civil("2025-01-01T00:00"))) << text;
    EXPECT_THROW((void)cron.next(civil("2025-01-01T00:00")), CronCalculationError) << text;
    EXPECT_THROW((void)cron.previous(civil("2025-01-01T00:00")), CronCalculationError) << text;
  }
  // With a weekday, the days of February that exist do match.
  EXPECT_FALSE(CronExpression::parse("0 0 30 2 1").never_matches());
  EXPECT_FALSE(CronExpression::parse("0 0 29 2 *").never_matches());
}

// E: the error's message and details.
TEST(Expression, says_why_there_is_no_occurrence) {
  try {
    (void)CronExpression::parse("0 0 30 2 *").next(civil("2025-01-01T00:00"));
    FAIL();
  } catch (const CronCalculationError& error) {
    EXPECT_EQ(error.name(), "CronCalculationError");
    EXPECT_STREQ(
        error.what(),
        "Failed to calculate next occurrence: \"0 0 30 2 *\" never matches, because none of its "
        "months has any of its days");
    EXPECT_EQ(error.expression(), "0 0 30 2 *");
    EXPECT_EQ(error.current_time(), "2025-01-01T00:00");
    EXPECT_NE(error.cause(), nullptr);
  }
}

// E: the text as it was given, which a CronExpression does not keep.
TEST(Expression, names_the_text_it_was_read_from) {
  const char* text = "00 00 30 02 *";
  const auto cron = CronExpression::parse(text);
  const Calendar calendar{Zone::utc()};
  const CivilMinute minute = civil("2025-01-01T00:00");
  const auto expect_text = [&](const auto& ask) {
    try {
      ask();
      FAIL();
    } catch (const CronCalculationError& error) {
      EXPECT_EQ(error.expression(), text);
      EXPECT_STREQ(
          error.what(),
          "Failed to calculate next occurrence: \"00 00 30 02 *\" never matches, because none of "
          "its months has any of its days");
    }
  };
  expect_text([&] { (void)cron.next(minute, text); });
  expect_text([&] { (void)cron.previous(minute, text); });
  expect_text([&] { (void)calendar.next(cron, Instant{}, text); });
  expect_text([&] { (void)calendar.previous(cron, Instant{}, text); });
}

TEST(Expression, ends_with_the_years_1_and_9999) {
  const auto new_year = CronExpression::parse("0 0 1 1 *");
  EXPECT_EQ(new_year.next(civil("9998-06-01T00:00")), civil("9999-01-01T00:00"));
  EXPECT_THROW((void)new_year.next(civil("9999-01-01T00:00")), CronCalculationError);
  EXPECT_THROW((void)new_year.next(CivilMinute::max()), CronCalculationError);
  EXPECT_EQ(new_year.next(CivilMinute::min()), civil("0001-01-01T00:00"));
  EXPECT_EQ(new_year.previous(CivilMinute::max()), civil("9999-01-01T00:00"));
  EXPECT_EQ(new_year.previous(civil("0001-01-01T00:00")), civil("0001-01-01T00:00"));
  EXPECT_THROW((void)new_year.previous(CivilMinute::min()), CronCalculationError);
  EXPECT_EQ(CronExpression::parse("* * * * *").previous(CivilMinute::max()),
            civil("9999-12-31T23:59"));
  EXPECT_FALSE(CronExpression::parse("* * * * *").matches(CivilMinute::min()));
  EXPECT_FALSE(CronExpression::parse("* * * * *").matches(CivilMinute::max()));
}

RC_GTEST_PROP(Expression, matches_what_the_naive_twin_matches, ()) {
  const std::string text = *cron_texts();
  const auto cron = CronExpression::parse(text);
  const NaiveCron naive{text};
  for (const CivilMinute minute :
       *rc::gen::container<std::vector<CivilMinute>>(100, civil_minutes())) {
    RC_ASSERT(cron.matches(minute) == naive.matches(minute));
  }
}

// next is the smallest match and previous the largest: the walk finds no match in between.
RC_GTEST_PROP(Expression, finds_what_the_minute_walk_finds, ()) {
  const std::string text = *cron_texts();
  const CivilMinute from = *civil_minutes();
  constexpr std::chrono::days walked{30};
  const auto cron = CronExpression::parse(text);
  const NaiveCron naive{text};

  const auto after = cron.find_at_or_after(from);
  const auto naive_after = naive.find_at_or_after(from, from + walked);
  RC_ASSERT((naive_after ? after == naive_after : !after || *after > from + walked));
  if (after) RC_ASSERT(naive.matches(*after));

  const auto before = cron.find_at_or_before(from);
  const auto naive_before = naive.find_at_or_before(from, from - walked);
  RC_ASSERT((naive_before ? before == naive_before : !before || *before < from - walked));
  if (before) RC_ASSERT(naive.matches(*before));
}

// The two searches agree on neighbours, over years for sparse expressions.
RC_GTEST_PROP(Expression, previous_mirrors_next, ()) {
  const auto cron = CronExpression::parse(*cron_texts());
  const CivilMinute from = *civil_minutes();
  RC_PRE(!cron.never_matches());

  const CivilMinute next = cron.next(from);
  RC_ASSERT(next > from);
  RC_ASSERT(cron.previous(next) == next);
  const CivilMinute previous = cron.previous(next - 1min);
  RC_ASSERT(previous <= from);
  RC_ASSERT(cron.next(previous) == next);
}

// Small domains are enumerated whole: every day with every weekday, and every day of every month.
TEST(Expression, knows_every_day_of_a_leap_cycle) {
  std::vector<std::string> texts;
  for (int day = 1; day <= 31; ++day) {
    const std::string of_day = "0 0 " + std::to_string(day) + ' ';
    for (int weekday = 0; weekday <= 6; ++weekday) {
      texts.push_back(of_day + "* " + std::to_string(weekday));
    }
    for (int month = 1; month <= 12; ++month)
      texts.push_back(of_day + std::to_string(month) + " *");
  }
  for (const std::string& text : texts) {
    const auto cron = CronExpression::parse(text);
    const NaiveCron naive{text};
    std::optional<CivilMinute> before;
    auto expected = cron.find_at_or_after(local_days{2023y / 1 / 1});
    for (local_days date{2023y / 1 / 1}; date < local_days{2028y / 1 / 1};
         date += std::chrono::days{1}) {
      ASSERT_EQ(cron.matches(date), naive.matches(date)) << text;
      if (!naive.matches(date)) continue;
      ASSERT_EQ(expected, date) << text;
      if (before) {
        ASSERT_EQ(cron.find_at_or_before(date - 1min), before) << text;
      }
      before = date;
      expected = cron.find_at_or_after(date + 1min);
    }
  }
}

}  // namespace
}  // namespace dutiful
