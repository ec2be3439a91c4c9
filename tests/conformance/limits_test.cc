// Section X of the rules: limits. Threads and time limits are in runtime/scheduler_test.cc.

#include <gtest/gtest.h>

#include "conformance/scene.h"

namespace dutiful {
namespace {

using namespace std::chrono_literals;

TEST(X1, tasks_wait_in_the_order_they_became_due) {
  Scene scene{"2025-03-03T09:59:30Z", {.max_concurrent = 1, .zone = Zone::utc()}};
  scene.script("c", {Does::keep_running});
  scene.initialize({{"a", "2 10 * * *"}, {"b", "1 10 * * *"}, {"c", "0 10 * * *"}});
  scene.advance_to("2025-03-03T10:05:00Z");
  EXPECT_EQ(scene.starts(), Starts{"10:00:00 c cron"});
  scene.end("c");
  EXPECT_EQ(scene.starts(), (Starts{"10:05:00 b cron", "10:05:00 a cron"}));
}

TEST(X1, tasks_due_together_start_in_the_order_of_their_names) {
  Scene scene{"2025-03-03T10:00:00Z", {.max_concurrent = 1, .zone = Zone::utc()}};
  scene.initialize({{"b", "0 * * * *"}, {"a", "0 * * * *"}, {"B", "0 * * * *"}});
  EXPECT_EQ(scene.starts(), (Starts{"10:00:00 B boot", "10:00:00 a boot", "10:00:00 b boot"}));
}

}  // namespace
}  // namespace dutiful
