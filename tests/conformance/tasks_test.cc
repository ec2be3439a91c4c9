// Section K of the rules: the task lifecycle. Also T6: no bursts.

#include <gtest/gtest.h>

#include "conformance/scene.h"

namespace dutiful {
namespace {

using namespace std::chrono_literals;

TEST(K1, a_task_never_overlaps_itself) {
  Scene scene{"2025-03-03T10:00:00Z"};
  scene.script("a", {Does::keep_running});
  scene.initialize({{"a", "* * * * *"}, {"b", "3 * * * *"}});
  scene.advance(10min);
  EXPECT_EQ(scene.starts(), (Starts{"10:00:00 a boot", "10:03:00 b cron"}));
}

TEST(K3, a_pulse_during_a_run_stays_owed_once) {
  Scene scene{"2025-03-03T10:00:00Z"};
  scene.script("a", {Does::keep_running});
  scene.initialize({{"a", "* * * * *"}});
  scene.advance_to("2025-03-03T10:05:30Z");
  scene.end("a");
  EXPECT_EQ(scene.starts(), (Starts{"10:00:00 a boot", "10:05:30 a cron"}));
}

TEST(K3, a_pulse_during_a_run_stays_owed_after_a_failure_too) {
  Scene scene{"2025-03-03T10:00:00Z"};
  scene.script("a", {Does::keep_running});
  scene.initialize({{"a", "0,1 * * * *", 10s}});
  scene.advance_to("2025-03-03T10:01:30Z");
  scene.fail("a");
  EXPECT_EQ(scene.starts(), (Starts{"10:00:00 a boot", "10:01:30 a cron"}));
  scene.advance(10min);
  EXPECT_EQ(scene.starts(), Starts{});  // the start cleared the retry too
}

TEST(K4, a_new_task_runs_at_once_only_in_a_matching_minute) {
  Scene scene{"2025-03-03T10:00:59.999Z"};
  scene.initialize({{"now", "0 * * * *"}, {"missed", "59 * * * *"}});
  EXPECT_EQ(scene.starts(), Starts{"10:00:59 now boot"});
}

TEST(K4, a_pulse_missed_later_is_owed_even_if_it_has_never_run) {
  Scene scene{"2025-03-03T10:00:30Z"};
  scene.initialize({{"a", "5 * * * *"}});
  scene.stop();
  scene.advance_to("2025-03-03T10:30:00Z");
  scene.initialize({{"a", "5 * * * *"}});
  EXPECT_EQ(scene.starts(), Starts{"10:30:00 a cron"});
}

// H13: it is owed until it starts, in whichever minute that is.
TEST(K4, a_first_run_that_had_to_wait_stays_owed_after_a_crash) {
  Scene scene{"2025-03-03T10:00:30Z", {.max_concurrent = 1, .zone = Zone::utc()}};
  const std::vector<Scene::Task> list{{"a", "0 10 * * *"}, {"b", "0 10 * * *"}};
  scene.script("a", {Does::keep_running});
  scene.initialize(list);
  EXPECT_EQ(scene.starts(), Starts{"10:00:30 a boot"});
  scene.crash();
  scene.advance(3h);
  scene.initialize(list);
  EXPECT_EQ(scene.starts(), (Starts{"13:00:30 a orphan", "13:00:30 b boot"}));
}

TEST(K5, retries_with_the_same_delay_until_it_succeeds) {
  Scene scene{"2025-03-03T10:00:00Z"};
  scene.script("a", {Does::fail, Does::fail, Does::fail});
  scene.initialize({{"a", "0 10 * * *", 90s}});
  scene.advance(1h);
  EXPECT_EQ(
      scene.starts(),
      (Starts{"10:00:00 a boot", "10:01:30 a retry", "10:03:00 a retry", "10:04:30 a retry"}));
}

TEST(K5, an_override_does_not_move_a_retry) {
  Scene scene{"2025-03-03T10:00:00Z"};
  scene.script("a", {Does::fail});
  scene.initialize({{"a", "0 10 * * *", 10min}});
  scene.stop();
  scene.initialize({{"a", "0 10 * * *", 1min}});
  scene.advance(1h);
  EXPECT_EQ(scene.starts(), (Starts{"10:00:00 a boot", "10:10:00 a retry"}));
}

TEST(K5, a_delay_may_be_of_any_length) {
  Scene scene{"2025-03-03T10:00:00Z"};
  scene.script("a", {Does::fail});
  scene.initialize({{"a", "0 10 * * *", Duration::max()}});
  scene.advance(25h);
  EXPECT_EQ(scene.starts(), (Starts{"10:00:00 a boot", "10:00:00 a cron"}));
}

TEST(K6, a_pulse_pre_empts_a_waiting_retry) {
  Scene scene{"2025-03-03T10:00:00Z"};
  scene.script("a", {Does::fail});
  scene.initialize({{"a", "0,5 * * * *", 7min}});
  scene.advance(30min);
  EXPECT_EQ(scene.starts(), (Starts{"10:00:00 a boot", "10:05:00 a cron"}));
}

TEST(K6, a_tie_is_a_retry) {
  Scene scene{"2025-03-03T10:00:00Z"};
  scene.script("a", {Does::fail});
  scene.initialize({{"a", "0,5 * * * *", 5min}});
  scene.advance(30min);
  EXPECT_EQ(scene.starts(), (Starts{"10:00:00 a boot", "10:05:00 a retry"}));
}

TEST(K9, decisions_are_deterministic) {
  const auto play = [] {
    Scene scene{"2025-03-03T10:00:00Z"};
    scene.script("b", {Does::fail, Does::fail});
    scene.initialize({{"c", "* * * * *"}, {"a", "0,5 * * * *"}, {"b", "* * * * *", 20s}});
    scene.advance(10min);
    return scene.starts();
  };
  EXPECT_EQ(play(), play());
  EXPECT_EQ(play().front(), "10:00:00 a boot");
}

TEST(T6, downtime_leads_to_one_run) {
  Scene scene{"2025-03-03T10:00:00Z"};
  scene.initialize({{"a", "0 * * * *"}});
  scene.stop();
  scene.advance(std::chrono::days{30});
  (void)scene.starts();
  scene.initialize({{"a", "0 * * * *"}});
  scene.advance(30min);
  EXPECT_EQ(scene.starts(), Starts{"10:00:00 a cron"});
}

}  // namespace
}  // namespace dutiful
