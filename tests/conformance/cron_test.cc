// Section C of the rules: the cron language. Every diagnosis is in cron/diagnosis_test.cc, and the
// oracle's thousands of expressions are in oracle/.

#include <gtest/gtest.h>

#include "conformance/scene.h"

namespace dutiful {
namespace {

using namespace std::chrono_literals;

// The field at fault, or "" for an accepted expression.
std::string blamed(const std::string& text) {
  try {
    (void)CronExpression::parse(text);
    return "";
  } catch (const InvalidCronExpressionError& error) {
    EXPECT_EQ(error.expression(), text);
    EXPECT_FALSE(error.reason().empty());
    EXPECT_TRUE(std::string{error.what()}.starts_with("Invalid cron expression ")) << error.what();
    return error.field();
  }
}

std::string reason(const std::string& text) {
  try {
    (void)CronExpression::parse(text);
    return "";
  } catch (const InvalidCronExpressionError& error) {
    return error.reason();
  }
}

TEST(C1, accepts_exactly_the_grammar) {
  for (const char* text : {"* * * * *",
                           " \t*\t *  * * * \t",
                           "0,1-3,007 00 1 1 0",
                           "0-59 0-23 1-31 1-12 0-6",
                           "5-5 * * * *"}) {
    EXPECT_EQ(blamed(text), "") << text;
  }
  EXPECT_EQ(blamed("*,1 * * * *"), "minute");
  EXPECT_EQ(blamed("* * * * *\n"), "weekday");
}

TEST(C2, accepts_exactly_the_ranges) {
  for (const char* text : {"60 * * * *",
                           "* 24 * * *",
                           "* * 0 * *",
                           "* * 32 * *",
                           "* * * 0 *",
                           "* * * 13 *",
                           "* * * * 7"}) {
    EXPECT_NE(blamed(text), "") << text;
  }
  // 2025-03-02 is a Sunday.
  const auto sundays = CronExpression::parse("0 0 * * 0");
  EXPECT_EQ(Calendar{Zone::utc()}.next(sundays, at("2025-02-27T00:00:00Z")),
            at("2025-03-02T00:00:00Z"));
}

TEST(C3, every_rejection_has_its_own_reason) {
  std::map<std::string, std::string> reasons;
  for (const char* text : {"* * * *",
                           "*/5 * * * *",
                           "* * * jan *",
                           "@daily",
                           "* * ? * *",
                           "* * L * *",
                           "* * * * 7",
                           "9-5 * * * *",
                           "60 * * * *",
                           "-1 * * * *",
                           "1.5 * * * *",
                           "0x5 * * * *",
                           "1e1 * * * *",
                           "1,,2 * * * *",
                           "1- * * * *",
                           ""}) {
    const auto [known, is_new] = reasons.emplace(reason(text), text);
    EXPECT_FALSE(known->first.empty()) << text;
    EXPECT_TRUE(is_new) << text << " and " << known->second << " have one: " << known->first;
  }
  EXPECT_NE(reason("* * * * 7").find("use 0 for Sunday"), std::string::npos);
}

TEST(C4, day_and_weekday_are_joined_by_or) {
  Scene scene{"2025-03-02T00:00:30Z"};
  scene.initialize({{"either", "0 1 3 * 5"},  // the 3rd, a Monday; Friday the 7th
                    {"day", "0 2 3 * *"},
                    {"weekday", "0 3 * * 5"},
                    {"every", "0 4 1-31 * 5"}});
  scene.advance(std::chrono::days{6});
  std::map<std::string, int> counts;
  for (const std::string& start : scene.starts()) ++counts[start.substr(9)];
  EXPECT_EQ(counts,
            (std::map<std::string, int>{
                {"either cron", 2}, {"day cron", 1}, {"weekday cron", 1}, {"every cron", 6}}));
}

TEST(C5, an_expression_may_never_match) {
  const auto never = CronExpression::parse("0 0 30 2 *");
  const Calendar calendar{Zone::utc()};
  EXPECT_THROW((void)calendar.next(never, at("2025-03-03T10:00:00Z")), CronCalculationError);
  EXPECT_THROW((void)calendar.previous(never, at("2025-03-03T10:00:00Z")), CronCalculationError);
  std::vector<std::string> warnings;
  Scene scene{"2025-03-03T10:00:00Z", {.zone = Zone::utc(), .events = [&](const Event& event) {
                                         if (event.name == "TaskNeverDue") {
                                           warnings.push_back(to_json(event));
                                         }
                                       }}};
  scene.initialize({{"a", "0 0 30 2 *"}});
  scene.advance(std::chrono::days{1000});
  EXPECT_EQ(scene.starts(), Starts{});
  EXPECT_EQ(warnings.size(), 1);
}

TEST(C6, blames_the_number_of_fields_first_and_then_the_first_bad_field) {
  EXPECT_EQ(blamed("*/5 * * *"), "expression");
  EXPECT_EQ(blamed("@daily"), "expression");
  EXPECT_EQ(blamed("* x * y *"), "hour");
}

TEST(C6, a_reason_ends_with_the_posix_equivalent) {
  for (const auto& [text, equivalent] : std::initializer_list<std::pair<const char*, const char*>>{
           {"*/15 * * * *", "0,15,30,45"},
           {"1-30/5 * * * *", "1,6,11,16,21,26"},
           {"* * * * mon", "1"},
           {"* * * * mon-fri", "1-5"},
           {"@daily", "0 0 * * *"},
           {"* * * * 7", "0"}}) {
    try {
      (void)CronExpression::parse(text);
      ADD_FAILURE() << text;
    } catch (const InvalidCronExpressionError& error) {
      EXPECT_EQ(error.details().equivalent, equivalent);
      EXPECT_TRUE(error.reason().find(equivalent) != std::string::npos) << error.reason();
    }
  }
}

// C7: cron/parse_test.cc counts the allocations. Twice the text is not four times the work: a
// megabyte is read in no time.
TEST(C7, a_long_text_is_read_in_one_pass) {
  std::string minutes = "0";
  while (minutes.size() < 1'000'000) minutes += ",59,0";
  const auto cron = CronExpression::parse(minutes + " * * * *");
  EXPECT_EQ(cron, CronExpression::parse("0,59 * * * *"));
}

}  // namespace
}  // namespace dutiful
