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
