// The judge of a cluster (RULES N11).

#include <gtest/gtest.h>

#include "support/times.h"
#include "theory/monitor.h"

namespace dutiful::theory {
namespace {

using namespace std::chrono_literals;

const TracedRegistration hourly{"a", "0 * * * *", 5min};
const TracedRegistration other_hourly{"b", "0 * * * *", 5min};

Instant today(const std::string& time) {
  return at("2025-03-03T" + time + "Z");
}

// A trace of members m1, m2, …, and the verdicts of the judge.
class Cluster {
 public:
  explicit Cluster(Setting setting = {})
      : monitor_(setting, [this](const Violation& violation) {
          verdicts_.push_back(violation.text());
          axioms_ += (axioms_.empty() ? "" : " ") + std::string{violation.axiom};
        }) {}

  Cluster& on(const std::string& time, const std::string& member, const TraceEvent& event) {
    monitor_.on(line_++, today(time), event, member);
    return *this;
  }
  Cluster& join(const std::string& time,
                const std::string& member,
                const std::vector<TracedRegistration>& list = {hourly}) {
    return on(time, member, InitStart{list}).on(time, member, InitSuccess{});
  }
  Cluster& start(const std::string& time,
                 const std::string& member,
                 const std::string& task,
                 Fence fence = {}) {
    return on(time, member, RunStart{task, "cron", fence});
  }

  [[nodiscard]] const std::string& axioms() const { return axioms_; }
  [[nodiscard]] const std::vector<std::string>& verdicts() const { return verdicts_; }
  [[nodiscard]] std::string open() const {
    std::string texts;
    for (const Open& open : monitor_.open()) texts += open.text() + '\n';
    return texts;
  }
  [[nodiscard]] std::uint64_t digest() const { return monitor_.digest(std::chrono::hours{1}); }

 private:
  Monitor monitor_;
  std::size_t line_ = 2;
  std::vector<std::string> verdicts_;
  std::string axioms_;
};

// Two members with the same list; m1 runs `a` since 01:00 with fence 1.
Cluster& running_on_m1(Cluster& cluster) {
  return cluster.join("00:30:00", "m1").join("00:31:00", "m2").start("01:00:00", "m1", "a", 1);
}

TEST(Members, share_the_tasks_of_one_list) {
  Cluster cluster;
  running_on_m1(cluster).on("01:10:00", "m1", RunSuccess{"a", {}, 1});
  cluster.start("02:00:00", "m2", "a", 2).on("02:10:00", "m2", RunSuccess{"a", {}, 2});
  cluster.on("02:20:00", "m1", StopStart{}).on("02:20:00", "m1", StopEnd{});
  cluster.start("03:00:00", "m2", "a", 3).on("03:10:00", "m2", RunSuccess{"a", {}, 3});
  cluster.on("03:20:00", "m2", StopStart{}).on("03:20:00", "m2", StopEnd{});
  EXPECT_EQ(cluster.axioms(), "");
  EXPECT_EQ(cluster.open(), "");
}

// N7: the decider may have moved, so another member records the end.
TEST(Members, may_record_the_end_of_a_run_elsewhere) {
  Cluster cluster;
  running_on_m1(cluster).on("01:10:00", "m2", RunSuccess{"a", {}, 1});
  EXPECT_EQ(cluster.start("02:00:00", "m2", "a", 2).axioms(), "");
}

// S1
TEST(Members, do_not_start_a_task_that_runs_on_another) {
  Cluster cluster;
  running_on_m1(cluster).start("02:00:00", "m2", "a", 2);
  EXPECT_EQ(cluster.verdicts().at(0),
            "S1 violated at line 7 (2025-03-03T02:00:00.000Z): \"a\" was started without being "
            "owed a run: it is running on member \"m1\" since 2025-03-03T01:00:00.000Z");
}

// S1, N8
TEST(Members, start_nothing_before_they_join_and_after_they_stop) {
  Cluster cluster;
  cluster.join("00:30:00", "m1").start("01:00:00", "m2", "a");
  EXPECT_EQ(cluster.verdicts().at(0),
            "S1 violated at line 4 (2025-03-03T01:00:00.000Z): \"a\" was started without being "
            "owed a run: member \"m2\" is not active");
  Cluster stopped;
  stopped.join("00:30:00", "m1").join("00:30:00", "m2");
  stopped.on("00:40:00", "m2", StopStart{}).on("00:40:00", "m2", StopEnd{});
  EXPECT_EQ(stopped.start("01:00:00", "m2", "a").axioms(), "S1");
}

// N8: one list counts, the one applied last.
TEST(Members, start_nothing_with_a_list_that_another_has_replaced) {
  Cluster cluster;
  cluster.join("00:30:00", "m1").join("00:40:00", "m2", {hourly, other_hourly});
  cluster.start("01:00:00", "m2", "b").start("01:00:00", "m1", "a");
  EXPECT_EQ(cluster.verdicts().at(0),
            "S1 violated at line 7 (2025-03-03T01:00:00.000Z): \"a\" was started without being "
            "owed a run: member \"m1\" has a list that another has replaced");
}

// N8: its runs go on and end.
TEST(Members, end_the_runs_of_a_list_that_another_has_replaced) {
  Cluster cluster;
  running_on_m1(cluster).join("01:01:00", "m2", {hourly, other_hourly});
  cluster.on("01:02:00", "m1", StopStart{}).on("01:10:00", "m1", RunSuccess{"a", {}, 1});
  cluster.on("01:10:00", "m1", StopEnd{}).start("02:00:00", "m2", "a", 2);
  EXPECT_EQ(cluster.start("02:00:00", "m2", "b", 3).axioms(), "");
}

// N1: a member that joins owes nothing that the others do not.
TEST(Members, change_nothing_by_joining) {
  Cluster cluster;
  running_on_m1(cluster).on("01:10:00", "m1", RunSuccess{"a", {}, 1}).join("01:20:00", "m3");
  EXPECT_EQ(cluster.open(), "");
  EXPECT_EQ(cluster.start("01:20:00", "m3", "a", 2).axioms(), "S1");
}

// L1
TEST(Members, owe_a_run_until_the_last_of_them_stops) {
  const auto owed = [](bool both) {
    Cluster cluster;
    cluster.join("00:30:00", "m1").join("00:30:00", "m2");
    cluster.on("01:00:10", "m1", StopStart{}).on("01:00:10", "m1", StopEnd{});
    if (both) cluster.on("01:00:20", "m2", StopStart{}).on("01:00:20", "m2", StopEnd{});
    return cluster.on("01:30:00", "m3", InitStart{{hourly}}).axioms();
  };
  EXPECT_EQ(owed(true), "");
  EXPECT_EQ(owed(false), "L1");
}

// N6, N11: the death of a member is the crash of what ran on it.
TEST(Members, owe_a_run_of_a_member_that_died) {
  Cluster cluster;
  cluster.join("00:30:00", "m1", {hourly, other_hourly})
      .join("00:31:00", "m2", {hourly, other_hourly});
  cluster.start("01:00:00", "m1", "a", 1).start("01:00:00", "m2", "b", 2);
  cluster.on("01:10:00", "m1", Crash{});
  EXPECT_EQ(cluster.open(),
            "L1 is open since 2025-03-03T01:10:00.000Z: \"a\" is interrupted by the crash at "
            "2025-03-03T01:10:00.000Z\n");
  cluster.start("01:10:01", "m2", "a", 3).on("01:20:00", "m2", RunSuccess{"a", {}, 3});
  cluster.on("01:20:00", "m2", RunSuccess{"b", {}, 2});
  EXPECT_EQ(cluster.axioms(), "");
  EXPECT_EQ(cluster.open(), "");

  Cluster forgotten;
  running_on_m1(forgotten).on("01:10:00", "m1", Crash{}).on("01:12:00", "m2", StopStart{});
  EXPECT_EQ(forgotten.axioms(), "L1");
}

TEST(Members, do_not_end_the_calls_of_others_by_dying) {
  Cluster cluster;
  cluster.on("00:00:00", "m1", InitStart{{hourly}}).on("00:00:01", "m2", Crash{});
  EXPECT_EQ(cluster.on("00:00:02", "m1", InitSuccess{}).axioms(), "");
}

// N5: a guard ended the run, or it never began; the task is owed a run again.
TEST(Members, owe_a_run_that_was_interrupted_alone) {
  Cluster cluster;
  running_on_m1(cluster).on("01:10:00", "m1", RunInterrupted{"a", {}, 1});
  EXPECT_EQ(cluster.open(),
            "L1 is open since 2025-03-03T01:10:00.000Z: \"a\" is interrupted at "
            "2025-03-03T01:10:00.000Z\n");
  EXPECT_EQ(cluster.start("01:10:01", "m2", "a", 2).axioms(), "");
  EXPECT_EQ(cluster.open(), "");
}

// S2: an interrupted run is no success, and its restart is none too many.
TEST(Members, do_not_count_an_interrupted_run_as_an_end) {
  Cluster cluster;
  running_on_m1(cluster).on("01:10:00", "m1", RunInterrupted{"a", {}, 1});
  cluster.start("01:10:01", "m2", "a", 2).on("01:20:00", "m2", RunSuccess{"a", {}, 2});
  EXPECT_EQ(cluster.on("01:30:00", "m1", RunSuccess{"a", {}, 1}).axioms(), "EA6");
}

TEST(Members, may_say_twice_that_a_run_was_interrupted) {
  Cluster cluster;
  running_on_m1(cluster).on("01:10:00", "m1", Crash{});
  cluster.on("01:10:01", "m1", RunInterrupted{"a", today("01:09:00"), 1});
  cluster.start("01:10:02", "m2", "a", 2).on("01:10:05", "m1", RunInterrupted{"a", {}, 1});
  cluster.on("01:10:05", "m2", RunInterrupted{"unknown", {}, 7});
  EXPECT_EQ(cluster.axioms(), "");
  EXPECT_EQ(cluster.on("01:20:00", "m2", RunSuccess{"a", {}, 2}).axioms(), "");
}

// N5
TEST(Members, do_not_run_a_task_twice_at_once) {
  const auto ended = [](const TraceEvent& late) {
    Cluster cluster;
    running_on_m1(cluster).on("01:10:00", "m1", Crash{}).start("01:10:01", "m2", "a", 2);
    return cluster.on("01:20:00", "m1", late).verdicts();
  };
  EXPECT_EQ(ended(RunInterrupted{"a", today("01:10:01"), 1}).size(), 0U);
  EXPECT_EQ(ended(RunInterrupted{"a", today("01:10:01.001"), 1}).at(0),
            "N5 violated at line 9 (2025-03-03T01:20:00.000Z): \"a\" ran twice at once: on member "
            "\"m1\" from 2025-03-03T01:00:00.000Z to 2025-03-03T01:10:01.001Z, and on member "
            "\"m2\" from 2025-03-03T01:10:01.000Z");
  EXPECT_EQ(ended(RunInterrupted{"a", {}, 1}).at(0).substr(0, 3), "N5 ");
  EXPECT_EQ(ended(RunSuccess{"a", today("01:15:00"), 1}).at(0).substr(0, 3), "N5 ");
  EXPECT_EQ(ended(RunFailure{"a", today("01:15:00"), 1}).at(0).substr(0, 3), "N5 ");
  EXPECT_EQ((Violation{"N5", 1, {}, ""}.blame()), Blame::scheduler);
}

// N5: without a fence, the member says which run it was.
TEST(Members, say_which_run_was_interrupted) {
  Cluster cluster;
  cluster.join("00:30:00", "m1").join("00:31:00", "m2").start("01:00:00", "m1", "a");
  cluster.on("01:10:00", "m1", Crash{}).start("01:10:01", "m2", "a");
  EXPECT_EQ(cluster.on("01:10:02", "m1", RunInterrupted{"a"}).axioms(), "N5");
  EXPECT_EQ(cluster.on("01:10:03", "m2", RunSuccess{"a"}).axioms(), "N5");
}

// N5: the start of a run that never began overlaps with nothing.
TEST(Members, may_start_a_run_that_never_begins_beside_another) {
  const auto ended = [](const char* time) {
    Cluster cluster;
    running_on_m1(cluster).on("01:10:00", "m1", Crash{}).start("01:10:01", "m2", "a", 2);
    cluster.on("01:10:02", "m2", RunInterrupted{"a", today("01:10:01"), 2});
    cluster.start("01:10:10", "m2", "a", 3);
    return cluster.on("01:20:00", "m1", RunInterrupted{"a", today(time), 1}).axioms();
  };
  EXPECT_EQ(ended("01:10:09"), "");
  EXPECT_EQ(ended("01:10:11"), "N5");
}

// H7: of a run that a crash interrupted, a late result is an error of the environment.
TEST(Members, do_not_record_results_of_interrupted_runs) {
  Cluster cluster;
  running_on_m1(cluster).on("01:10:00", "m1", Crash{});
  EXPECT_EQ(cluster.on("01:10:01", "m1", RunSuccess{"a", {}, 1}).axioms(), "EA6");
  cluster.start("01:10:02", "m2", "a", 2).on("01:10:03", "m1", RunFailure{"a", {}, 1});
  EXPECT_EQ(cluster.axioms(), "EA6 EA6");
  EXPECT_EQ(cluster.on("01:10:04", "m2", RunSuccess{"a", {}, 2}).axioms(), "EA6 EA6");
}

// S4
TEST(Members, do_not_end_a_run_with_an_unknown_fence) {
  Cluster cluster;
  running_on_m1(cluster).on("01:10:00", "m1", RunSuccess{"a", {}, 7});
  EXPECT_EQ(cluster.axioms(), "S4");
  EXPECT_EQ(cluster.on("01:10:00", "m1", RunSuccess{"a", {}, 1}).axioms(), "S4");
}

// The memory of the judge is bounded: it forgets all but the newest runs.
TEST(Members, are_remembered_for_a_few_runs_only) {
  Cluster cluster;
  running_on_m1(cluster);
  for (Fence fence = 2; *fence < 9; ++*fence) {
    const std::string minute = "01:0" + std::to_string(*fence);
    cluster.on(minute + ":00", "m1", RunInterrupted{"a", {}, *fence - 1});
    cluster.start(minute + ":01", "m1", "a", fence);
  }
  const auto late = [](Fence fence) { return RunInterrupted{"a", today("01:59:00"), fence}; };
  EXPECT_EQ(cluster.on("02:00:00", "m1", late(2)).axioms(), "");
  EXPECT_EQ(cluster.on("02:00:00", "m1", late(6)).axioms(), "N5");
}

// S3, L3: a stop waits for what runs on its own member.
TEST(Members, stop_when_nothing_runs_on_them) {
  Cluster cluster;
  running_on_m1(cluster).on("01:10:00", "m2", StopStart{}).on("01:10:00", "m2", StopEnd{});
  EXPECT_EQ(cluster.axioms(), "");
  cluster.on("01:20:00", "m1", StopStart{}).on("01:20:01", "m1", StopEnd{});
  EXPECT_EQ(cluster.verdicts().at(0),
            "S3 violated at line 10 (2025-03-03T01:20:01.000Z): a stop by member \"m1\" ended "
            "while \"a\" was running");

  Cluster slow;
  running_on_m1(slow).on("01:10:00", "m1", StopStart{}).on("01:11:00", "m2", StopStart{});
  slow.on("01:12:02", "m1", RunSuccess{"a", {}, 1});
  EXPECT_EQ(slow.verdicts().at(0),
            "L3 violated at line 9 (2025-03-03T01:12:02.000Z): the stop of "
            "2025-03-03T01:11:00.000Z by member \"m2\" had not returned 61.001 s after the last "
            "callback ended");
  EXPECT_EQ(slow.open(),
            "L3 is open since 2025-03-03T01:10:00.000Z: a stop by member \"m1\" has not "
            "returned\n");
}

// S5, H9, L2: a call belongs to its member.
TEST(Members, have_calls_of_their_own) {
  Cluster cluster;
  cluster.join("00:30:00", "m1").on("00:31:00", "m2", InitStart{{hourly}});
  EXPECT_EQ(cluster.on("00:31:00", "m2", InitFailure{"StoreError"}).axioms(), "S5");
  EXPECT_EQ(cluster.on("00:31:00", "m3", InitSuccess{}).axioms(), "S5 S5");
  cluster.on("00:32:00", "m2", InitStart{{hourly}}).on("00:34:00", "m1", StopStart{});
  EXPECT_EQ(cluster.verdicts().at(2),
            "L2 violated at line 8 (2025-03-03T00:34:00.000Z): the initialize of "
            "2025-03-03T00:32:00.000Z by member \"m2\" had not returned after 61.001 s");
}

// H10: it is not known who decides for `b`.
TEST(Members, excuse_a_late_start_while_one_of_them_is_saturated) {
  const auto started = [](const std::string& time, std::optional<Instant> ended) {
    Cluster cluster{{.max_concurrent = 1}};
    const std::vector<TracedRegistration> list{hourly, other_hourly};
    cluster.join("00:30:00", "m1", list).join("00:31:00", "m2", list);
    cluster.start("01:00:00", "m1", "a", 1);
    cluster.on("01:30:00", "m1", RunSuccess{"a", ended, 1});
    return cluster.start(time, "m2", "b", 2).axioms();
  };
  EXPECT_EQ(started("01:30:59", {}), "");
  EXPECT_EQ(started("01:31:02", {}), "L1");
  EXPECT_EQ(started("01:30:30", today("01:29:30")), "");
  EXPECT_EQ(started("01:30:30", today("01:29:00")), "L1");
}

// H10: a late end of one member does not take away what another excuses.
TEST(Members, are_saturated_each_for_itself) {
  const TracedRegistration third{"c", "0 * * * *", 5min};
  const std::vector<TracedRegistration> list{hourly, other_hourly, third};
  Cluster cluster{{.max_concurrent = 1}};
  cluster.join("00:30:00", "m1", list).join("00:31:00", "m2", list);
  cluster.start("01:00:00", "m1", "a", 1).start("01:00:10", "m2", "b", 2);
  cluster.on("01:30:00", "m1", RunSuccess{"a", today("01:01:00"), 1});
  EXPECT_EQ(cluster.on("01:40:00", "m2", RunSuccess{"b", {}, 2}).axioms(), "");
  EXPECT_EQ(cluster.start("01:40:50", "m1", "c", 3).axioms(), "");
}

// EA2
TEST(Members, do_nothing_while_they_are_frozen) {
  Cluster cluster;
  running_on_m1(cluster).on("01:10:00", "m1", Freeze{today("01:20:00")});
  cluster.on("01:11:00", "m2", StopStart{}).on("01:11:00", "m2", StopEnd{});
  EXPECT_EQ(cluster.axioms(), "");
  cluster.on("01:12:00", "m1", RunSuccess{"a", {}, 1});
  EXPECT_EQ(cluster.verdicts().at(0),
            "EA2 violated at line 10 (2025-03-03T01:12:00.000Z): a run succeeded while member "
            "\"m1\" was frozen until 2025-03-03T01:20:00.000Z");
}

// N5: what ends the commands of a frozen member is not frozen.
TEST(Members, may_have_runs_interrupted_while_they_are_frozen) {
  Cluster cluster;
  running_on_m1(cluster).on("01:10:00", "m1", Freeze{today("01:20:00")});
  EXPECT_EQ(cluster.on("01:10:08", "m1", RunInterrupted{"a", {}, 1}).axioms(), "");
}

// L1, L2: another member can do what a frozen one does not, but not return from its calls.
TEST(Members, excuse_a_late_start_only_if_all_are_frozen) {
  const auto axioms = [](bool all) {
    Cluster cluster;
    cluster.join("00:30:00", "m1").join("00:31:00", "m2");
    cluster.on("00:59:00", "m1", Freeze{today("01:10:00")});
    if (all) cluster.on("00:59:00", "m2", Freeze{today("01:09:00")});
    return cluster.start("01:10:00", "m1", "a").axioms();
  };
  EXPECT_EQ(axioms(true), "");
  EXPECT_EQ(axioms(false), "L1");

  Cluster joining;
  joining.join("00:30:00", "m1").on("00:31:00", "m2", InitStart{{hourly}});
  joining.on("00:31:01", "m2", Freeze{today("00:40:00")}).on("00:40:59", "m2", InitSuccess{});
  EXPECT_EQ(joining.axioms(), "");
}

// N10: while the database cannot be reached nothing starts, and nothing is forbidden.
TEST(Members, are_granted_no_compute_in_an_outage) {
  const auto axioms = [](const char* time) {
    Cluster cluster;
    running_on_m1(cluster).on("01:59:50", "m1", Outage{today("02:10:00")});
    cluster.on("02:05:00", "m1", RunInterrupted{"a", {}, 1});
    return cluster.start(time, "m2", "a", 2).axioms();
  };
  EXPECT_EQ(axioms("02:06:00"), "");
  EXPECT_EQ(axioms("02:11:01"), "");
  EXPECT_EQ(axioms("02:11:02"), "L1");
}

// Each life of a scheduler is a member, so a long trace has many.
TEST(Members, are_forgotten_when_they_are_over) {
  Cluster cluster;
  cluster.join("00:30:00", "m0");
  for (int life = 1; life < 1000; ++life) {
    const std::string member = "n" + std::to_string(life);
    cluster.join("00:30:00", member);
    if (life % 2 == 0)
      cluster.on("00:30:00", member, StopStart{}).on("00:30:00", member, StopEnd{});
    cluster.on("00:30:00", member, Crash{});
  }
  Cluster fresh;
  fresh.join("00:30:00", "m0");
  EXPECT_EQ(cluster.join("00:30:00", "m1").digest(), fresh.join("00:30:00", "m1").digest());
}

TEST(Members, make_states_that_differ_in_where_a_task_runs) {
  Cluster one;
  Cluster two;
  one.join("00:30:00", "m1").join("00:30:00", "m2").start("01:00:00", "m1", "a", 1);
  two.join("00:30:00", "m1").join("00:30:00", "m2").start("01:00:00", "m2", "a", 1);
  EXPECT_NE(one.digest(), two.digest());
}

}  // namespace
}  // namespace dutiful::theory
