#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <dutiful/cron.h>

#include "cron/diagnosis.h"
#include "support/allocations.h"
#include "support/cron_texts.h"
#include "support/mend.h"

namespace dutiful {
namespace {

std::string canonical(std::string_view text) {
  return CronExpression::parse(text).to_string();
}

// C1, C2
TEST(Parse, reads_the_posix_grammar) {
  struct Row {
    const char* text;
    const char* canonical;
  };
  for (const Row& row : std::initializer_list<Row>{
           {"* * * * *", "* * * * *"},
           {"15 3 * * 1-5", "15 3 * * 1-5"},
           {"0,30 * * * *", "0,30 * * * *"},
           {"0 0 1 1 *", "0 0 1 1 *"},
           {"59 23 31 12 6", "59 23 31 12 6"},
           // Any number of spaces and tabs, also around the expression.
           {"\t 1 \t2  3\t4 5 ", "1 2 3 4 5"},
           // Leading zeros, however many.
           {"00 003 01 0000000000000000000000007 06", "0 3 1 7 6"},
           // Order and repetition do not matter.
           {"5,3,3,1-4 * * * *", "1-5 * * * *"},
           {"1-1 * * * *", "1 * * * *"},
           {"1,2 * * * *", "1,2 * * * *"},
           // All of a field is the same as a star …
           {"0-59 0-23 1-31 1-12 0-6", "* * * * *"},
           {"0 0 1-31 * *", "0 0 * * *"},
           // … but not for the day rule: 1-31 is restricted, so every day matches (C4).
           {"0 0 1-31 * 1", "0 0 * * *"},
           {"0 0 13 * 0-6", "0 0 * * *"},
           {"0 0 * * 1", "0 0 * * 1"},
           {"0 0 13 * 5", "0 0 13 * 5"},
       }) {
    EXPECT_EQ(canonical(row.text), row.canonical) << row.text;
  }
}

// P3 compares texts; interning compares the schedules that they mean.
TEST(Parse, gives_equal_schedules_for_different_texts) {
  const std::string text = "0 0 * * *";
  const std::string other_text = "00 0 1-31 * *";
  EXPECT_NE(text, other_text);
  EXPECT_EQ(CronExpression::parse(text), CronExpression::parse(other_text));
  EXPECT_NE(CronExpression::parse("0 0 * * *"), CronExpression::parse("0 1 * * *"));
}

TEST(Parse, throws_and_try_parse_does_not) {
  EXPECT_THROW((void)CronExpression::parse("* * * *"), InvalidCronExpressionError);
  EXPECT_FALSE(CronExpression::try_parse("* * * *"));
  EXPECT_FALSE(CronExpression::try_parse(""));
  EXPECT_FALSE(CronExpression::try_parse(std::string_view{}));
  EXPECT_TRUE(CronExpression::try_parse("* * * * *"));
}

// C7
TEST(Parse, allocates_nothing_on_success) {
  const std::string text = std::string(200, ' ') + "0,5,10,15,20-59 1-3 * 1,2,3,4-12 0,1,2";
  const std::uint64_t before = allocations();
  const auto parsed = CronExpression::try_parse(text);
  const std::uint64_t after = allocations();
  EXPECT_TRUE(parsed);
  EXPECT_EQ(after, before);
}

RC_GTEST_PROP(Parse, round_trips_through_print, ()) {
  const std::string text = *cron_texts();
  const auto cron = CronExpression::parse(text);
  RC_ASSERT(CronExpression::parse(cron.to_string()) == cron);
  RC_ASSERT(canonical(cron.to_string()) == cron.to_string());
}

// The parser accepts or rejects and the diagnosis explains; they must agree.
RC_GTEST_PROP(Parse, finds_a_reason_for_every_rejection, ()) {
  const auto characters =
      rc::gen::elementOf(std::string{"0123456789 \t**,,--  /@LW?#.x+\nmonJAN\xc3"});
  std::string text = *rc::gen::oneOf(cron_texts(), rc::gen::container<std::string>(characters));
  if (!text.empty()) {
    const auto hit = *rc::gen::inRange<std::size_t>(0, text.size());
    text[hit] = *characters;
  }
  if (CronExpression::try_parse(text)) return;
  const auto details = diagnose(text);
  RC_ASSERT(details.reason != "is not POSIX cron");
  RC_ASSERT(details.offset + details.length <= text.size());
  // With the equivalent in its place, only a later field can be wrong.
  const std::string mended = mend(details);
  if (mended.empty() || CronExpression::try_parse(mended)) return;
  RC_ASSERT(diagnose(mended).field_offset > details.field_offset);
}

}  // namespace
}  // namespace dutiful
