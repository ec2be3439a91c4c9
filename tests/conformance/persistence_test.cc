// Section P of the rules: persistence and overrides. Files are in stores/, commits in
// engine_test.cc.

#include <set>

#include <gtest/gtest.h>

#include "conformance/world.h"

namespace dutiful {
namespace {

using namespace std::chrono_literals;

TEST(P2, an_interrupted_run_is_restarted_at_once) {
  World world{"2025-03-03T10:00:00Z"};
  world.script("a", {Does::go_on});
  world.initialize({{"a", "0 10 * * *"}});
  world.advance(1min);
  world.crash();
  world.advance(1min);
  world.initialize({{"a", "0 10 * * *"}});
  EXPECT_EQ(world.starts(), (Starts{"10:00:00 a boot", "10:02:00 a orphan"}));
}

TEST(P2, a_run_that_ended_before_the_crash_is_not) {
  World world{"2025-03-03T10:00:00Z"};
  world.initialize({{"a", "0 10 * * *"}});
  world.crash();
  world.initialize({{"a", "0 10 * * *"}});
  world.advance(1h);
  EXPECT_EQ(world.starts(), Starts{"10:00:00 a boot"});
}

TEST(P2, an_override_keeps_the_history_and_counts_the_new_pulses) {
  World world{"2025-03-03T10:00:00Z"};
  world.initialize({{"a", "0 * * * *"}});
  world.advance(20min);
  world.stop();
  world.initialize({{"a", "10 * * * *"}});
  EXPECT_EQ(world.starts(), (Starts{"10:00:00 a boot", "10:20:00 a cron"}));
}

// H13
TEST(P2, a_task_that_never_ran_owes_the_pulses_of_its_new_schedule_since_it_came) {
  World world{"2025-03-03T10:00:30Z"};
  world.initialize({{"a", "30 * * * *"}});
  world.stop();
  world.advance_to("2025-03-03T10:20:00Z");
  world.initialize({{"a", "10 * * * *"}});
  EXPECT_EQ(world.starts(), Starts{"10:20:00 a cron"});
}

TEST(P2, an_override_may_start_over) {
  World world{"2025-03-03T10:00:00Z", {.override = Override::reset_history, .zone = Zone::utc()}};
  world.initialize({{"a", "0 * * * *"}});
  world.advance(20min);
  world.stop();
  world.initialize({{"a", "10 * * * *"}});
  EXPECT_EQ(world.starts(), Starts{"10:00:00 a boot"});
}

TEST(P2, a_removed_task_that_comes_back_is_new) {
  World world{"2025-03-03T10:00:00Z"};
  world.script("a", {Does::fail});
  world.initialize({{"a", "0 * * * *"}});
  world.stop();
  world.initialize({});
  world.stop();
  world.advance(30min);
  world.initialize({{"a", "0 * * * *"}});
  world.advance(20min);
  EXPECT_EQ(world.starts(), Starts{"10:00:00 a boot"});  // no retry, no orphan
}

TEST(P3, another_text_of_the_same_schedule_is_an_override) {
  World world{"2025-03-03T10:00:00Z", {.override = Override::reset_history, .zone = Zone::utc()}};
  world.initialize({{"a", "0 * * * *"}});
  world.stop();
  world.initialize({{"a", "00 * * * *"}});
  EXPECT_EQ(world.starts(), (Starts{"10:00:00 a boot", "10:00:00 a boot"}));
}

// Whoever started the interrupted run is named, and nobody has the name of another.
TEST(P5, every_initialize_makes_an_identifier_of_its_own) {
  std::set<std::string> identifiers;
  World world{"2025-03-03T10:00:00Z",
              {.zone = Zone::utc(), .events = [&](const Event& event) {
                 if (event.name != "TaskOrphaned") return;
                 const EventField& identifier = event.fields.at(2);
                 ASSERT_EQ(identifier.name, "schedulerIdentifier");
                 identifiers.insert(std::get<std::string>(identifier.value));
               }}};
  world.script("a", {Does::go_on, Does::go_on, Does::go_on, Does::go_on});
  for (int i = 0; i < 4; ++i) {
    world.initialize({{"a", "0 10 * * *"}});
    world.crash();
  }
  EXPECT_EQ(world.starts().size(), 4);
  EXPECT_EQ(identifiers.size(), 3);
  EXPECT_FALSE(identifiers.contains(""));
}

TEST(P8, a_key_is_the_same_for_every_attempt_at_the_same_work) {
  World world{"2025-03-03T10:00:30Z"};
  world.script("a", {Does::fail, Does::go_on});
  world.initialize({{"a", "0 * * * *"}});
  world.advance(10min);
  world.crash();
  world.initialize({{"a", "0 * * * *"}});
  EXPECT_EQ(world.starts(), (Starts{"10:00:30 a boot", "10:05:30 a retry", "10:10:30 a orphan"}));
  EXPECT_EQ(world.keys(), Keys(3, "a@2025-03-03T10:00:00.000Z"));
}

TEST(P8, a_key_is_of_one_task_and_one_pulse) {
  World world{"2025-03-03T10:00:30Z"};
  world.script("a", {Does::fail, Does::go_on});
  world.initialize({{"a", "0,3 * * * *"}, {"b", "3 * * * *"}});
  world.advance_to("2025-03-03T11:05:00Z");
  world.end("a");  // K3: two pulses fell meanwhile, and the first names the run that serves both
  EXPECT_EQ(world.starts(),
            (Starts{"10:00:30 a boot",
                    "10:03:00 a cron",
                    "10:03:00 b cron",
                    "11:03:00 b cron",
                    "11:05:00 a cron"}));
  EXPECT_EQ(world.keys(),
            (Keys{"a@2025-03-03T10:00:00.000Z",
                  "a@2025-03-03T10:03:00.000Z",
                  "b@2025-03-03T10:03:00.000Z",
                  "b@2025-03-03T11:03:00.000Z",
                  "a@2025-03-03T11:00:00.000Z"}));
}

// The scheduler has forgotten the name, so it runs (K4); the callback can tell that it was done.
TEST(P8, a_name_that_comes_back_within_the_minute_has_the_same_key) {
  World world{"2025-03-03T10:00:30Z"};
  const std::vector<World::Task> list{{"a", "* * * * *"}};
  world.initialize(list);
  world.stop();
  world.initialize({});
  world.stop();
  world.advance(29s);
  world.initialize(list);
  world.advance(1s);
  EXPECT_EQ(world.starts(), (Starts{"10:00:30 a boot", "10:00:59 a boot", "10:01:00 a cron"}));
  EXPECT_EQ(world.keys(),
            (Keys{"a@2025-03-03T10:00:00.000Z",
                  "a@2025-03-03T10:00:00.000Z",
                  "a@2025-03-03T10:01:00.000Z"}));
}

TEST(P8, a_fence_grows_with_every_start_for_ever) {
  World world{"2025-03-03T10:00:30Z"};
  const std::vector<World::Task> list{{"a", "0 * * * *"}};
  world.script("a", {Does::fail, Does::go_on});
  world.initialize(list);
  world.advance(10min);
  world.crash();
  world.initialize(list);
  world.stop();
  world.advance_to("2025-03-03T11:00:00Z");
  world.initialize(list);
  world.stop();
  world.initialize({});  // which removes it
  world.stop();
  world.initialize(list);
  EXPECT_EQ(world.starts(),
            (Starts{"10:00:30 a boot",
                    "10:05:30 a retry",
                    "10:10:30 a orphan",
                    "11:00:00 a cron",
                    "11:00:00 a boot"}));
  EXPECT_EQ(world.fences(), (Fences{1, 2, 3, 4, 5}));
}

TEST(P8, a_fence_grows_also_where_the_history_is_reset_or_the_list_reconciled) {
  World world{"2025-03-03T10:00:00Z",
              {.reinitialize = Reinitialize::reconcile,
               .override = Override::reset_history,
               .zone = Zone::utc()}};
  world.script("a", {Does::go_on});
  world.initialize({{"a", "0 * * * *"}});
  world.initialize({{"b", "0 * * * *"}});                      // the run of a goes on
  world.initialize({{"a", "0 * * * *"}, {"b", "* * * * *"}});  // b starts over, a waits for its run
  world.end("a");
  EXPECT_EQ(world.starts(),
            (Starts{"10:00:00 a boot", "10:00:00 b boot", "10:00:00 b boot", "10:00:00 a boot"}));
  EXPECT_EQ(world.fences(), (Fences{1, 2, 3, 4}));
}

}  // namespace
}  // namespace dutiful
