// Section K of the rules: the task lifecycle. Also T6: no bursts.

#include <gtest/gtest.h>

#include "conformance/world.h"

namespace dutiful {
namespace {

using namespace std::chrono_literals;

TEST(K1, a_task_never_overlaps_itself) {
  World world{"2025-03-03T10:00:00Z"};
  world.script("a", {Does::go_on});
  world.initialize({{"a", "* * * * *"}, {"b", "3 * * * *"}});
  world.advance(10min);
  EXPECT_EQ(world.starts(), (Starts{"10:00:00 a boot", "10:03:00 b cron"}));
}

TEST(K3, a_pulse_while_it_runs_stays_owed_once) {
  World world{"2025-03-03T10:00:00Z"};
  world.script("a", {Does::go_on});
  world.initialize({{"a", "* * * * *"}});
  world.advance_to("2025-03-03T10:05:30Z");
  world.end("a");
  EXPECT_EQ(world.starts(), (Starts{"10:00:00 a boot", "10:05:30 a cron"}));
}

TEST(K3, also_after_a_failure) {
  World world{"2025-03-03T10:00:00Z"};
  world.script("a", {Does::go_on});
  world.initialize({{"a", "0,1 * * * *", 10s}});
  world.advance_to("2025-03-03T10:01:30Z");
  world.fail("a");
  EXPECT_EQ(world.starts(), (Starts{"10:00:00 a boot", "10:01:30 a cron"}));
  world.advance(10min);
  EXPECT_EQ(world.starts(), Starts{});  // the start cleared the retry too
}

TEST(K4, a_new_task_runs_at_once_only_in_a_matching_minute) {
  World world{"2025-03-03T10:00:59.999Z"};
  world.initialize({{"now", "0 * * * *"}, {"missed", "59 * * * *"}});
  EXPECT_EQ(world.starts(), Starts{"10:00:59 now boot"});
}

TEST(K4, a_pulse_missed_later_is_owed_even_if_it_has_never_run) {
  World world{"2025-03-03T10:00:30Z"};
  world.initialize({{"a", "5 * * * *"}});
  world.stop();
  world.advance_to("2025-03-03T10:30:00Z");
  world.initialize({{"a", "5 * * * *"}});
  EXPECT_EQ(world.starts(), Starts{"10:30:00 a cron"});
}

// H13: it is owed until it starts, in whatever minute that is.
TEST(K4, a_first_run_that_had_to_wait_is_held_over_a_crash) {
  World world{"2025-03-03T10:00:30Z", {.max_concurrent = 1, .zone = Zone::utc()}};
  const std::vector<World::Task> list{{"a", "0 10 * * *"}, {"b", "0 10 * * *"}};
  world.script("a", {Does::go_on});
  world.initialize(list);
  EXPECT_EQ(world.starts(), Starts{"10:00:30 a boot"});
  world.crash();
  world.advance(3h);
  world.initialize(list);
  EXPECT_EQ(world.starts(), (Starts{"13:00:30 a orphan", "13:00:30 b boot"}));
}

TEST(K5, retries_with_the_same_delay_until_it_succeeds) {
  World world{"2025-03-03T10:00:00Z"};
  world.script("a", {Does::fail, Does::fail, Does::fail});
  world.initialize({{"a", "0 10 * * *", 90s}});
  world.advance(1h);
  EXPECT_EQ(
      world.starts(),
      (Starts{"10:00:00 a boot", "10:01:30 a retry", "10:03:00 a retry", "10:04:30 a retry"}));
}

TEST(K5, an_override_does_not_move_a_retry) {
  World world{"2025-03-03T10:00:00Z"};
  world.script("a", {Does::fail});
  world.initialize({{"a", "0 10 * * *", 10min}});
  world.stop();
  world.initialize({{"a", "0 10 * * *", 1min}});
  world.advance(1h);
  EXPECT_EQ(world.starts(), (Starts{"10:00:00 a boot", "10:10:00 a retry"}));
}

TEST(K5, a_delay_may_be_of_any_length) {
  World world{"2025-03-03T10:00:00Z"};
  world.script("a", {Does::fail});
  world.initialize({{"a", "0 10 * * *", Duration::max()}});
  world.advance(25h);
  EXPECT_EQ(world.starts(), (Starts{"10:00:00 a boot", "10:00:00 a cron"}));
}

TEST(K6, a_pulse_pre_empts_a_waiting_retry) {
  World world{"2025-03-03T10:00:00Z"};
  world.script("a", {Does::fail});
  world.initialize({{"a", "0,5 * * * *", 7min}});
  world.advance(30min);
  EXPECT_EQ(world.starts(), (Starts{"10:00:00 a boot", "10:05:00 a cron"}));
}

TEST(K6, a_tie_is_a_retry) {
  World world{"2025-03-03T10:00:00Z"};
  world.script("a", {Does::fail});
  world.initialize({{"a", "0,5 * * * *", 5min}});
  world.advance(30min);
  EXPECT_EQ(world.starts(), (Starts{"10:00:00 a boot", "10:05:00 a retry"}));
}

TEST(K9, decisions_are_deterministic) {
  const auto play = [] {
    World world{"2025-03-03T10:00:00Z"};
    world.script("b", {Does::fail, Does::fail});
    world.initialize({{"c", "* * * * *"}, {"a", "0,5 * * * *"}, {"b", "* * * * *", 20s}});
    world.advance(10min);
    return world.starts();
  };
  EXPECT_EQ(play(), play());
  EXPECT_EQ(play().front(), "10:00:00 a boot");
}

TEST(T6, downtime_is_made_up_once) {
  World world{"2025-03-03T10:00:00Z"};
  world.initialize({{"a", "0 * * * *"}});
  world.stop();
  world.advance(std::chrono::days{30});
  (void)world.starts();
  world.initialize({{"a", "0 * * * *"}});
  world.advance(30min);
  EXPECT_EQ(world.starts(), Starts{"10:00:00 a cron"});
}

}  // namespace
}  // namespace dutiful
