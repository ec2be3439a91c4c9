// Section I of the rules: the scheduler's lifecycle. Threads are in runtime/scheduler_test.cc.

#include <gtest/gtest.h>

#include "conformance/world.h"

namespace dutiful {
namespace {

using namespace std::chrono_literals;

TEST(I3, reports_the_first_registration_that_is_wrong) {
  World world{"2025-03-03T10:00:00Z"};
  EXPECT_THROW(world.initialize({{"a", "* * * * *"}, {"b", "x"}, {"a", "* * * * *"}}),
               CronExpressionInvalidError);
  EXPECT_THROW(world.initialize({{"a", "* * * * *"}, {"a", "* * * * *"}, {"b", "x"}}),
               ScheduleDuplicateTaskError);
  EXPECT_EQ(world.starts(), Starts{});
}

// Within one registration: its name, a duplicate, its expression, its callback, its retry delay,
// its time limit.
TEST(I3, checks_a_registration_in_the_order_of_its_fields) {
  const std::string large(1025, '0');
  const Callback none{};
  const Callback work{[] {}};
  struct Row {
    Registration first;
    Registration second;
    const char* expected;  // the error, and of an InvalidRegistrationError the field
  };
  const Row rows[] = {
      {{"", large, none, -1ms, -1ms}, {"", "x", none, -1ms, -1ms}, "InvalidRegistrationError name"},
      {{large, large, none, -1ms, -1ms}, {}, "InvalidRegistrationError name"},
      {{"a", "* * * * *", work, 0ms, 0ms},
       {"a", large, none, -1ms, -1ms},
       "ScheduleDuplicateTaskError"},
      {{"a", large, none, -1ms, -1ms}, {}, "InvalidRegistrationError cronExpression"},
      {{"a", "x", none, -1ms, -1ms}, {}, "CronExpressionInvalidError"},
      {{"a", "* * * * *", none, -1ms, -1ms}, {}, "InvalidRegistrationError callback"},
      {{"a", "* * * * *", work, -1ms, -1ms}, {}, "NegativeRetryDelayError"},
      {{"a", "* * * * *", work, 0ms, -1ms}, {}, "InvalidRegistrationError timeLimit"},
      // Whatever is wrong with the second, the first is reported.
      {{"a", "* * * * *", work, 0ms, -1ms}, {"a", "x", none}, "InvalidRegistrationError timeLimit"},
      {{"a", "* * * * *", work, -1ms, 0ms}, {"b", "* * * * *", none}, "NegativeRetryDelayError"},
      {{"a", "* * * * *", none},
       {"b", "* * * * *", work, -1ms},
       "InvalidRegistrationError callback"},
  };
  for (const Row& row : rows) {
    VirtualScheduler scheduler{at("2025-03-03T10:00:00Z"), {.zone = Zone::utc()}};
    std::string thrown;
    try {
      scheduler.initialize({row.first, row.second});
    } catch (const InvalidRegistrationError& error) {
      thrown = std::string{error.name()} + ' ' + error.field();
    } catch (const Error& error) {
      thrown = error.name();
    }
    EXPECT_EQ(thrown, row.expected) << "line " << &row - rows;
  }
}

TEST(I4, rejects_a_second_list_and_changes_nothing) {
  World world{"2025-03-03T10:00:30Z"};
  world.initialize({{"a", "5 * * * *"}});
  EXPECT_THROW(world.initialize({{"b", "* * * * *"}}), SchedulerAlreadyActiveError);
  world.advance(1h);
  EXPECT_EQ(world.starts(), Starts{"10:05:00 a cron"});
}

TEST(I4, reconciles_where_told_to) {
  World world{"2025-03-03T10:00:30Z",
              {.reinitialize = Reinitialize::reconcile, .zone = Zone::utc()}};
  world.script("a", {Does::go_on});
  world.initialize({{"a", "0 * * * *"}});
  EXPECT_EQ(world.starts(), Starts{"10:00:30 a boot"});
  world.initialize({{"b", "1 * * * *"}});
  world.advance(1min);
  EXPECT_EQ(world.starts(), Starts{"10:01:00 b cron"});
  // A removed task's run goes on; the name, added again, waits for it.
  world.initialize({{"a", "* * * * *"}});
  world.advance(5min);
  EXPECT_EQ(world.starts(), Starts{});
  world.end("a");
  EXPECT_EQ(world.starts().size(), 1);
}

TEST(I6, stopping_and_starting_again_changes_nothing) {
  World world{"2025-03-03T10:00:30Z"};
  for (int i = 0; i < 3; ++i) {
    world.initialize({{"a", "5 * * * *"}});
    world.stop();
  }
  world.initialize({{"a", "5 * * * *"}});
  world.advance(10min);
  EXPECT_EQ(world.starts(), Starts{"10:05:00 a cron"});
}

TEST(I7, takes_an_empty_list) {
  World world{"2025-03-03T10:00:00Z"};
  world.initialize({});
  world.advance(24h);
  world.stop();
  EXPECT_EQ(world.starts(), Starts{});
}

}  // namespace
}  // namespace dutiful
