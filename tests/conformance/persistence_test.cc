// Section P of the rules: persistence and overrides. Tests of files are in stores/, tests of
// commits in engine_test.cc.

#include <set>

#include <gtest/gtest.h>

#include "conformance/scene.h"

namespace dutiful {
namespace {

using namespace std::chrono_literals;

TEST(P2, an_interrupted_run_is_restarted_at_once) {
  Scene scene{"2025-03-03T10:00:00Z"};
  scene.script("a", {Does::keep_running});
  scene.initialize({{"a", "0 10 * * *"}});
  scene.advance(1min);
  scene.crash();
  scene.advance(1min);
  scene.initialize({{"a", "0 10 * * *"}});
  EXPECT_EQ(scene.starts(), (Starts{"10:00:00 a boot", "10:02:00 a orphan"}));
}

TEST(P2, a_run_that_ended_before_the_crash_is_not_restarted) {
  Scene scene{"2025-03-03T10:00:00Z"};
  scene.initialize({{"a", "0 10 * * *"}});
  scene.crash();
  scene.initialize({{"a", "0 10 * * *"}});
  scene.advance(1h);
  EXPECT_EQ(scene.starts(), Starts{"10:00:00 a boot"});
}

TEST(P2, an_override_keeps_the_history_and_counts_the_new_pulses) {
  Scene scene{"2025-03-03T10:00:00Z"};
  scene.initialize({{"a", "0 * * * *"}});
  scene.advance(20min);
  scene.stop();
  scene.initialize({{"a", "10 * * * *"}});
  EXPECT_EQ(scene.starts(), (Starts{"10:00:00 a boot", "10:20:00 a cron"}));
}

// H13
TEST(P2, a_task_that_never_ran_owes_the_pulses_of_its_new_schedule_since_its_first_coming) {
  Scene scene{"2025-03-03T10:00:30Z"};
  scene.initialize({{"a", "30 * * * *"}});
  scene.stop();
  scene.advance_to("2025-03-03T10:20:00Z");
  scene.initialize({{"a", "10 * * * *"}});
  EXPECT_EQ(scene.starts(), Starts{"10:20:00 a cron"});
}

TEST(P2, an_override_may_reset_the_history) {
  Scene scene{"2025-03-03T10:00:00Z", {.override = Override::reset_history, .zone = Zone::utc()}};
  scene.initialize({{"a", "0 * * * *"}});
  scene.advance(20min);
  scene.stop();
  scene.initialize({{"a", "10 * * * *"}});
  EXPECT_EQ(scene.starts(), Starts{"10:00:00 a boot"});
}

TEST(P2, a_removed_task_that_returns_is_new) {
  Scene scene{"2025-03-03T10:00:00Z"};
  scene.script("a", {Does::fail});
  scene.initialize({{"a", "0 * * * *"}});
  scene.stop();
  scene.initialize({});
  scene.stop();
  scene.advance(30min);
  scene.initialize({{"a", "0 * * * *"}});
  scene.advance(20min);
  EXPECT_EQ(scene.starts(), Starts{"10:00:00 a boot"});  // no retry, no orphan
}

TEST(P3, another_text_of_the_same_schedule_is_an_override) {
  Scene scene{"2025-03-03T10:00:00Z", {.override = Override::reset_history, .zone = Zone::utc()}};
  scene.initialize({{"a", "0 * * * *"}});
  scene.stop();
  scene.initialize({{"a", "00 * * * *"}});
  EXPECT_EQ(scene.starts(), (Starts{"10:00:00 a boot", "10:00:00 a boot"}));
}

// The event names the scheduler that started the interrupted run, and no two schedulers have one
// name.
TEST(P5, every_initialize_makes_a_new_identifier) {
  std::set<std::string> identifiers;
  Scene scene{"2025-03-03T10:00:00Z",
              {.zone = Zone::utc(), .events = [&](const Event& event) {
                 if (event.name != "TaskOrphaned") return;
                 const EventField& identifier = event.fields.at(2);
                 ASSERT_EQ(identifier.name, "schedulerIdentifier");
                 identifiers.insert(std::get<std::string>(identifier.value));
               }}};
  scene.script("a",
               {Does::keep_running, Does::keep_running, Does::keep_running, Does::keep_running});
  for (int i = 0; i < 4; ++i) {
    scene.initialize({{"a", "0 10 * * *"}});
    scene.crash();
  }
  EXPECT_EQ(scene.starts().size(), 4);
  EXPECT_EQ(identifiers.size(), 3);
  EXPECT_FALSE(identifiers.contains(""));
}

TEST(P8, a_key_is_the_same_for_every_attempt_at_the_same_work) {
  Scene scene{"2025-03-03T10:00:30Z"};
  scene.script("a", {Does::fail, Does::keep_running});
  scene.initialize({{"a", "0 * * * *"}});
  scene.advance(10min);
  scene.crash();
  scene.initialize({{"a", "0 * * * *"}});
  EXPECT_EQ(scene.starts(), (Starts{"10:00:30 a boot", "10:05:30 a retry", "10:10:30 a orphan"}));
  EXPECT_EQ(scene.keys(), Keys(3, "a@2025-03-03T10:00:00.000Z"));
}

TEST(P8, a_key_belongs_to_one_task_and_one_pulse) {
  Scene scene{"2025-03-03T10:00:30Z"};
  scene.script("a", {Does::fail, Does::keep_running});
  scene.initialize({{"a", "0,3 * * * *"}, {"b", "3 * * * *"}});
  scene.advance_to("2025-03-03T11:05:00Z");
  // K3: two pulses occurred meanwhile, and the first names the run that serves both.
  scene.end("a");
  EXPECT_EQ(scene.starts(),
            (Starts{"10:00:30 a boot",
                    "10:03:00 a cron",
                    "10:03:00 b cron",
                    "11:03:00 b cron",
                    "11:05:00 a cron"}));
  EXPECT_EQ(scene.keys(),
            (Keys{"a@2025-03-03T10:00:00.000Z",
                  "a@2025-03-03T10:03:00.000Z",
                  "b@2025-03-03T10:03:00.000Z",
                  "b@2025-03-03T11:03:00.000Z",
                  "a@2025-03-03T11:00:00.000Z"}));
}

// The scheduler has forgotten the name, so it runs (K4). The callback can recognise that the work
// was done.
TEST(P8, a_name_that_returns_within_the_minute_has_the_same_key) {
  Scene scene{"2025-03-03T10:00:30Z"};
  const std::vector<Scene::Task> list{{"a", "* * * * *"}};
  scene.initialize(list);
  scene.stop();
  scene.initialize({});
  scene.stop();
  scene.advance(29s);
  scene.initialize(list);
  scene.advance(1s);
  EXPECT_EQ(scene.starts(), (Starts{"10:00:30 a boot", "10:00:59 a boot", "10:01:00 a cron"}));
  EXPECT_EQ(scene.keys(),
            (Keys{"a@2025-03-03T10:00:00.000Z",
                  "a@2025-03-03T10:00:00.000Z",
                  "a@2025-03-03T10:01:00.000Z"}));
}

TEST(P8, a_fence_grows_with_every_start_for_ever) {
  Scene scene{"2025-03-03T10:00:30Z"};
  const std::vector<Scene::Task> list{{"a", "0 * * * *"}};
  scene.script("a", {Does::fail, Does::keep_running});
  scene.initialize(list);
  scene.advance(10min);
  scene.crash();
  scene.initialize(list);
  scene.stop();
  scene.advance_to("2025-03-03T11:00:00Z");
  scene.initialize(list);
  scene.stop();
  scene.initialize({});  // removes it
  scene.stop();
  scene.initialize(list);
  EXPECT_EQ(scene.starts(),
            (Starts{"10:00:30 a boot",
                    "10:05:30 a retry",
                    "10:10:30 a orphan",
                    "11:00:00 a cron",
                    "11:00:00 a boot"}));
  EXPECT_EQ(scene.fences(), (Fences{1, 2, 3, 4, 5}));
}

TEST(P8, a_fence_grows_even_if_the_history_is_reset_or_the_list_reconciled) {
  Scene scene{"2025-03-03T10:00:00Z",
              {.reinitialize = Reinitialize::reconcile,
               .override = Override::reset_history,
               .zone = Zone::utc()}};
  scene.script("a", {Does::keep_running});
  scene.initialize({{"a", "0 * * * *"}});
  scene.initialize({{"b", "0 * * * *"}});                      // the run of a continues
  scene.initialize({{"a", "0 * * * *"}, {"b", "* * * * *"}});  // b is reset; a waits for its run
  scene.end("a");
  EXPECT_EQ(scene.starts(),
            (Starts{"10:00:00 a boot", "10:00:00 b boot", "10:00:00 b boot", "10:00:00 a boot"}));
  EXPECT_EQ(scene.fences(), (Fences{1, 2, 3, 4}));
}

}  // namespace
}  // namespace dutiful
