// Section X of the rules: limits. Threads and time limits are in runtime/scheduler_test.cc.

#include <gtest/gtest.h>

#include "conformance/world.h"

namespace dutiful {
namespace {

using namespace std::chrono_literals;

TEST(X1, tasks_wait_in_the_order_they_became_due) {
  World world{"2025-03-03T09:59:30Z", {.max_concurrent = 1, .zone = Zone::utc()}};
  world.script("c", {Does::go_on});
  world.initialize({{"a", "2 10 * * *"}, {"b", "1 10 * * *"}, {"c", "0 10 * * *"}});
  world.advance_to("2025-03-03T10:05:00Z");
  EXPECT_EQ(world.starts(), Starts{"10:00:00 c cron"});
  world.end("c");
  EXPECT_EQ(world.starts(), (Starts{"10:05:00 b cron", "10:05:00 a cron"}));
}

TEST(X1, ties_go_by_name) {
  World world{"2025-03-03T10:00:00Z", {.max_concurrent = 1, .zone = Zone::utc()}};
  world.initialize({{"b", "0 * * * *"}, {"a", "0 * * * *"}, {"B", "0 * * * *"}});
  EXPECT_EQ(world.starts(), (Starts{"10:00:00 B boot", "10:00:00 a boot", "10:00:00 b boot"}));
}

}  // namespace
}  // namespace dutiful
