#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/cluster_world.h"

namespace dutiful {
namespace {

using namespace std::chrono_literals;
using Kind = ClusterFault::Kind;

constexpr Instant begin = std::chrono::sys_days{std::chrono::year{2026} / 3 / 1};

ClusterScenario healthy(std::size_t hosts) {
  return {.seed = 1,
          .hosts = hosts,
          .shards = 8,
          .lease = 10s,
          .lists = {{.tasks = {{.name = "a", .cron = "* * * * *", .retry_delay = 5s},
                               {.name = "b", .cron = "* * * * *", .retry_delay = 5s},
                               {.name = "c", .cron = "* * * * *", .retry_delay = 5s}}}},
          .begin = begin,
          .end = begin + 10min,
          .faults = {}};
}

std::string log_of(const ClusterScenario& scenario) {
  std::ostringstream log;
  EXPECT_THAT(play(scenario, &log).violations, testing::IsEmpty());
  return log.str();
}

TEST(Cluster, runs_every_task_at_every_pulse) {
  for (const std::size_t hosts : {1U, 3U, 5U}) {
    const ClusterVerdict verdict = play(healthy(hosts));
    EXPECT_THAT(verdict.violations, testing::IsEmpty());
    EXPECT_GE(verdict.runs, 20U);
  }
}

TEST(Cluster, is_the_same_each_time) {
  EXPECT_EQ(log_of(random_cluster(7, 10min)), log_of(random_cluster(7, 10min)));
  EXPECT_NE(log_of(random_cluster(7, 10min)), log_of(random_cluster(8, 10min)));
}

// N6: what ran on a member that died is restarted within a lease and two seconds. The judge expects
// that: an Outage of a lease and a second begins with the death, and then everything that is owed
// must start within its budget.
TEST(Cluster, restarts_what_ran_on_a_member_that_died) {
  for (Duration after = 20s; after < 80s; after += 3s) {
    ClusterScenario scenario = healthy(3);
    scenario.faults = {{.at = begin + after, .kind = Kind::crash, .host = 1, .length = 5min}};
    EXPECT_THAT(log_of(scenario), testing::HasSubstr("executes Declare"));
    EXPECT_EQ(play(scenario).restarts + play(scenario).handovers, 1U);
  }
}

// N6: whoever declares the member dead takes its shards and those of its runs, so nobody has to be
// notified. The member that comes back has taken some of them before.
TEST(Cluster, takes_over_from_a_member_that_died_though_no_notification_arrives) {
  for (Duration after = 60s; after < 63s; after += 10ms) {
    ClusterScenario scenario = healthy(2);
    scenario.faults = {
        {.at = begin, .kind = Kind::lost_notifications, .length = 10min},
        {.at = begin + after, .kind = Kind::crash, .host = 1, .length = 4500ms},
    };
    EXPECT_THAT(play(scenario).violations, testing::IsEmpty());
  }
}

// N12: a member that could not commit takes its tasks back if no other accepts them.
TEST(Cluster, accepts_tasks_after_failures_if_nobody_else_does) {
  ClusterScenario scenario = healthy(2);
  scenario.lease = 20s;
  scenario.faults = {
      {.at = begin + 59s, .kind = Kind::failing_commits, .host = 1, .length = 25s},
      {.at = begin + 85s, .kind = Kind::crash, .host = 0, .length = 5min},
  };
  EXPECT_THAT(play(scenario).violations, testing::IsEmpty());
}

// N8: initialize() returns when its list counts. It does not rely on what the member saw before the
// call.
TEST(Cluster, asks_which_list_counts_when_it_is_initialized_again) {
  for (Duration later = 0s; later < 30ms; later += 2ms) {
    ClusterScenario scenario = healthy(2);
    scenario.lists.push_back({.tasks = {{.name = "d", .cron = "* * * * *", .retry_delay = 5s}}});
    scenario.faults = {
        {.at = begin + 70s, .kind = Kind::change_list, .host = 0, .list = 1},
        {.at = begin + 70s + later, .kind = Kind::change_list, .host = 1, .list = 0},
    };
    EXPECT_THAT(play(scenario).violations, testing::IsEmpty());
  }
}

// N8: a list with a lower version does not replace one with a higher version.
TEST(Cluster, refuses_a_list_with_a_lower_version) {
  ClusterScenario scenario = healthy(2);
  scenario.lists[0].version = 2;
  scenario.lists.push_back(
      {.tasks = {{.name = "old", .cron = "* * * * *", .retry_delay = 5s}}, .version = 1});
  scenario.faults = {{.at = begin + 70s, .kind = Kind::change_list, .host = 0, .list = 1}};
  EXPECT_THAT(log_of(scenario), testing::Not(testing::HasSubstr("a run of old")));

  scenario.lists[1].version = 3;
  EXPECT_THAT(log_of(scenario), testing::HasSubstr("a run of old"));
}

TEST(Cluster, refuses_a_lower_version_while_it_does_not_know_whether_a_list_was_applied) {
  ClusterScenario scenario = healthy(2);
  scenario.lists[0].version = 2;
  scenario.lists.push_back(
      {.tasks = {{.name = "new", .cron = "* * * * *", .retry_delay = 5s}}, .version = 3});
  scenario.lists.push_back(
      {.tasks = {{.name = "old", .cron = "* * * * *", .retry_delay = 5s}}, .version = 1});
  for (const auto fate : {ClusterFault::Fate::never_executed,
                          ClusterFault::Fate::executed,
                          ClusterFault::Fate::executed_late}) {
    scenario.faults = {
        {.at = begin + 70s,
         .kind = Kind::break_connection,
         .host = 0,
         .length = 5s,
         .channel = cluster::Channel::work,
         .fate = fate,
         .waits = true},
        {.at = begin + 70s, .kind = Kind::change_list, .host = 0, .list = 1},
        {.at = begin + 70s + 1ms, .kind = Kind::change_list, .host = 0, .list = 2},
    };
    EXPECT_THAT(log_of(scenario), testing::Not(testing::HasSubstr("a run of old")));
  }
}

// N6: a member that stops hands its tasks over at once, though its runs go on.
TEST(Cluster, hands_over_the_tasks_of_a_member_that_stops) {
  ClusterScenario scenario = healthy(2);
  scenario.faults = {{.at = begin + 90s, .kind = Kind::leave, .host = 0, .length = 5min}};
  const std::string log = log_of(scenario);
  EXPECT_THAT(log, testing::HasSubstr("executes Release"));
  EXPECT_THAT(log, testing::HasSubstr("StopEnd"));
  EXPECT_EQ(play(scenario).handovers, 1U);
}

TEST(Cluster, may_have_a_member_that_dies_when_it_has_just_left) {
  for (Duration later = 0s; later < 100ms; later += 2ms) {
    ClusterScenario scenario = healthy(2);
    scenario.faults = {
        {.at = begin + 55s, .kind = Kind::leave, .host = 1, .length = 5min},
        {.at = begin + 55s + later, .kind = Kind::crash, .host = 1, .length = 5min},
    };
    EXPECT_THAT(play(scenario).violations, testing::IsEmpty());
  }
}

// N5: a member that stands still for longer than its lease comes back as another, and its runs have
// ended.
TEST(Cluster, ends_the_runs_of_a_member_that_stands_still) {
  ClusterScenario scenario = healthy(2);
  for (Duration at = 60s; at < 9min; at += 60s) {
    scenario.faults.push_back(
        {.at = begin + at + 1ms, .kind = Kind::pause, .host = 0, .length = 30s});
  }
  EXPECT_THAT(log_of(scenario), testing::HasSubstr("all runs must end"));
}

// N8, N10: a run of a task that was removed is known after the database has forgotten something
// else. Here its member stands still, so the run is interrupted, and later the member stops.
TEST(Cluster, may_forget_something_while_a_removed_task_runs) {
  for (Duration later = 0s; later < 20s; later += 1s) {
    ClusterScenario scenario = healthy(1);
    scenario.lists.push_back({.tasks = {scenario.lists[0].tasks[0]}});
    scenario.end = begin + 12min;
    scenario.faults = {
        {.at = begin + 60s + later, .kind = Kind::change_list, .list = 1},
        {.at = begin + 61s + later, .kind = Kind::database_forgets, .length = 200ms},
        {.at = begin + 62s + later, .kind = Kind::pause, .length = 30s},
        {.at = begin + 10min, .kind = Kind::leave, .length = 1min},
    };
    EXPECT_THAT(play(scenario).violations, testing::IsEmpty());
  }
}

TEST(Cluster, has_at_least_ten_faults_when_it_is_random) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const ClusterScenario scenario = random_cluster(seed, 30min);
    EXPECT_GE(scenario.faults.size(), 10U);
    EXPECT_TRUE(std::ranges::is_sorted(scenario.faults, {}, &ClusterFault::at));
  }
}

}  // namespace
}  // namespace dutiful
