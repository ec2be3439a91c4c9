// status(): from any thread, at any time, and what it says about each task.

#include <atomic>
#include <filesystem>
#include <functional>
#include <future>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <dutiful/dutiful.h>

#include "runtime/runtime_in_test.h"
#include "support/sqlite_lock.h"
#include "support/temporary_directory.h"

namespace dutiful {
namespace {

using namespace std::chrono_literals;
using Lifecycle = SchedulerStatus::Lifecycle;
using Owed = TaskStatus::Owed;
using State = TaskStatus::State;
using WaitsFor = TaskStatus::WaitsFor;

// Waits until the status is as expected, and returns it. A task of the test waits for what happens,
// but its last step, the record, happens after that.
SchedulerStatus await(const Scheduler& scheduler,
                      const std::function<bool(const SchedulerStatus&)>& expected) {
  while (true) {
    SchedulerStatus status = scheduler.status();
    if (expected(status)) return status;
    std::this_thread::yield();
  }
}

// In virtual time every fact is exact.
class VirtualStatus : public testing::Test {
 protected:
  std::vector<dutiful::Run> kept;
  bool fails = false;

  Registration keep(const std::string& name, const char* cron) {
    return {name, cron, [this](dutiful::Run run) { kept.push_back(std::move(run)); }, 5min};
  }
  Registration may_fail(const std::string& name, const char* cron) {
    return {name,
            cron,
            [this] {
              if (fails) throw std::runtime_error("as told");
            },
            5min};
  }
  VirtualScheduler scheduler{at("2025-03-03T10:10:30Z"),
                             {.max_concurrent = 2, .zone = Zone::utc()}};
};

TEST_F(VirtualStatus, has_no_tasks_without_a_list) {
  const SchedulerStatus status = scheduler.status();
  EXPECT_EQ(status.lifecycle, Lifecycle::uninitialized);
  EXPECT_EQ(status.at, at("2025-03-03T10:10:30Z"));
  EXPECT_TRUE(status.tasks.empty());
  EXPECT_EQ(status.find("a"), nullptr);
  EXPECT_EQ(status.max_concurrent, 2);
}

TEST_F(VirtualStatus, lists_the_tasks_by_name_with_their_schedules) {
  scheduler.initialize({may_fail("b", "15 3 * * 1-5"), may_fail("a", "0 * * * *")});
  const SchedulerStatus status = scheduler.status();
  EXPECT_EQ(status.lifecycle, Lifecycle::running);
  ASSERT_EQ(status.tasks.size(), 2);
  EXPECT_EQ(status.tasks[0].name, "a");
  EXPECT_EQ(status.tasks[0].cron, "0 * * * *");
  EXPECT_EQ(status.tasks[0],
            (TaskStatus{.name = "a",
                        .cron = "0 * * * *",
                        .first_coming = at("2025-03-03T10:10:30Z"),
                        .next_pulse = at("2025-03-03T11:00:00Z")}));
  EXPECT_EQ(status.find("b"), &status.tasks[1]);
  EXPECT_EQ(status.find("b")->english(), "At 03:15, Monday through Friday");
  EXPECT_EQ(status.find("b")->next_pulse, at("2025-03-04T03:15:00Z"));
}

TEST_F(VirtualStatus, shows_a_success) {
  scheduler.initialize({may_fail("a", "0 * * * *")});
  scheduler.advance(1h);
  const TaskStatus task = scheduler.status().tasks.at(0);
  EXPECT_EQ(task.state, State::awaiting_run);
  EXPECT_EQ(task.attempt, 1);
  EXPECT_EQ(task.fence, 1);
  EXPECT_EQ(task.reason, Reason::cron);
  EXPECT_EQ(task.pulse, at("2025-03-03T11:00:00Z"));
  EXPECT_EQ(task.last_attempt, at("2025-03-03T11:00:00Z"));
  EXPECT_EQ(task.last_success, at("2025-03-03T11:00:00Z"));
  EXPECT_EQ(task.last_failure, std::nullopt);
  EXPECT_EQ(task.next_pulse, at("2025-03-03T12:00:00Z"));
  EXPECT_EQ(task.owed, std::nullopt);
}

// K5
TEST_F(VirtualStatus, shows_a_failure_and_its_retry) {
  fails = true;
  scheduler.initialize({may_fail("a", "0 * * * *")});
  scheduler.advance(52min);
  const TaskStatus failed = scheduler.status().tasks.at(0);
  EXPECT_EQ(failed.state, State::awaiting_retry);
  EXPECT_EQ(failed.last_failure, at("2025-03-03T11:00:00Z"));
  EXPECT_EQ(failed.retry_at, at("2025-03-03T11:05:00Z"));
  EXPECT_EQ(failed.owed, std::nullopt);

  fails = false;
  scheduler.advance(5min);
  const TaskStatus retried = scheduler.status().tasks.at(0);
  EXPECT_EQ(retried.state, State::awaiting_run);
  EXPECT_EQ(retried.attempt, 2);
  EXPECT_EQ(retried.reason, Reason::retry);
  EXPECT_EQ(retried.pulse, at("2025-03-03T11:00:00Z"));
  EXPECT_EQ(retried.last_success, at("2025-03-03T11:05:00Z"));
  EXPECT_EQ(retried.retry_at, std::nullopt);
}

// K3
TEST_F(VirtualStatus, counts_the_pulses_that_arrive_while_the_task_runs) {
  scheduler.initialize({keep("a", "0,30 * * * *")});
  scheduler.advance(2h);  // 10:30 is running; 11:00, 11:30 and 12:00 are not served
  const SchedulerStatus status = scheduler.status();
  EXPECT_EQ(status.running, 1);
  EXPECT_EQ(status.tasks.at(0).state, State::running);
  EXPECT_EQ(status.tasks.at(0).owed,
            (Owed{Reason::cron, at("2025-03-03T11:00:00Z"), 3, WaitsFor::own_run}));
  EXPECT_EQ(status.tasks.at(0).overdue_since, std::nullopt);  // it runs
}

// X1
TEST_F(VirtualStatus, shows_who_waits_at_the_limit) {
  scheduler.initialize({keep("a", "30 * * * *"), keep("b", "30 * * * *"), keep("c", "30 * * * *")});
  scheduler.advance(20min);
  const SchedulerStatus status = scheduler.status();
  EXPECT_EQ(status.running, 2);
  EXPECT_EQ(status.tasks.at(1).owed, std::nullopt);
  EXPECT_EQ(status.tasks.at(2).state, State::awaiting_run);
  EXPECT_EQ(status.tasks.at(2).owed,
            (Owed{Reason::cron, at("2025-03-03T10:30:00Z"), 1, WaitsFor::limit}));
  EXPECT_EQ(status.tasks.at(2).overdue_since, at("2025-03-03T10:30:00Z"));
  kept[0].succeed();
  scheduler.advance(0ms);
  EXPECT_EQ(scheduler.status().tasks.at(2).state, State::running);
}

// K2: the first run of a task serves the pulse of the minute in which it came.
TEST_F(VirtualStatus, counts_the_pulse_of_a_first_run_that_waits) {
  scheduler.initialize({keep("a", "* * * * *"), keep("b", "* * * * *"), keep("c", "* * * * *")});
  const Instant came = scheduler.status().at;
  EXPECT_EQ(scheduler.status().tasks.at(2).owed, (Owed{Reason::boot, came, 1, WaitsFor::limit}));
  scheduler.advance(2min);
  EXPECT_EQ(scheduler.status().tasks.at(2).owed, (Owed{Reason::boot, came, 3, WaitsFor::limit}));
  kept[0].succeed();
  scheduler.advance(0ms);
  EXPECT_EQ(scheduler.status().tasks.at(2).owed, std::nullopt);
}

// K2, P5: when the list is durable, and before the restart.
TEST(Status, shows_an_interrupted_run_until_its_restart) {
  SchedulerStatus asked;
  VirtualScheduler* that = nullptr;
  VirtualScheduler scheduler{at("2025-03-03T10:10:30Z"),
                             {.zone = Zone::utc(), .events = [&](const Event& event) {
                                if (event.name == "SchedulerInitializationCompleted")
                                  asked = that->status();
                              }}};
  that = &scheduler;
  std::vector<dutiful::Run> kept;
  const std::vector<Registration> list{
      {"a", "30 * * * *", [&](dutiful::Run run) { kept.push_back(std::move(run)); }, 1min}};
  scheduler.initialize(list);
  scheduler.advance(20min);
  scheduler.crash();
  EXPECT_EQ(scheduler.status().lifecycle, Lifecycle::uninitialized);
  EXPECT_TRUE(scheduler.status().tasks.empty());
  EXPECT_EQ(scheduler.status().running, 0);

  kept.clear();
  scheduler.advance(1h);
  scheduler.initialize(list);
  EXPECT_EQ(asked.tasks.at(0).state, State::interrupted);
  EXPECT_EQ(asked.tasks.at(0).reason, Reason::cron);
  EXPECT_EQ(asked.tasks.at(0).owed,
            (Owed{Reason::orphan, at("2025-03-03T10:30:00Z"), 1, WaitsFor::nothing}));
  EXPECT_EQ(asked.tasks.at(0).overdue_since, at("2025-03-03T10:30:00Z"));
  const SchedulerStatus restarted = scheduler.status();
  EXPECT_EQ(restarted.tasks.at(0).state, State::running);
  EXPECT_EQ(restarted.tasks.at(0).reason, Reason::orphan);
  EXPECT_EQ(restarted.tasks.at(0).attempt, 2);
  EXPECT_EQ(restarted.tasks.at(0).pulse, at("2025-03-03T10:30:00Z"));
}

// I2: user code in initialize() and in stop() asks.
TEST(Status, follows_the_lifecycle_in_virtual_time) {
  std::vector<std::string> seen;
  VirtualScheduler* asked = nullptr;
  const auto ask = [&](std::string_view when) {
    if (asked == nullptr) return;
    const SchedulerStatus status = asked->status();
    seen.push_back(std::string{when} + ": " + name_of(status.lifecycle) + ", " +
                   std::to_string(status.tasks.size()));
  };
  VirtualScheduler scheduler{at("2025-03-03T10:10:30Z"),
                             {.zone = Zone::utc(),
                              .events =
                                  [&](const Event& event) {
                                    if (event.name.starts_with("Scheduler")) ask(event.name);
                                  },
                              .prepare = [&] { ask("prepare"); }}};
  asked = &scheduler;
  scheduler.initialize({{"a", "0 * * * *", [] {}, 1min}});
  scheduler.stop();
  EXPECT_THAT(seen,
              testing::ElementsAre("SchedulerInitializationStarted: initializing, 0",
                                   "prepare: initializing, 0",
                                   "SchedulerInitializationCompleted: running, 1",
                                   "SchedulerStopRequested: stopping, 1",
                                   "SchedulerStopped: stopping, 1"));
}

class RuntimeStatus : public Runtime {
 protected:
  Gate gate;

  Registration held(const std::string& name, const char* cron = "* * * * *") {
    return {name,
            cron,
            [this, name] {
              journal.add(name);
              gate.pass();
            },
            1min};
  }
  Registration quick(const std::string& name, const char* cron = "* * * * *") {
    return {name, cron, [this, name] { journal.add(name); }, 1min};
  }
};

// K4: the minute of the registration is a pulse.
TEST_F(RuntimeStatus, shows_a_boot_run) {
  Scheduler scheduler{options()};
  EXPECT_EQ(scheduler.status().lifecycle, Lifecycle::uninitialized);
  scheduler.initialize({held("a")});
  journal.wait_for(1);
  const SchedulerStatus status = scheduler.status();
  EXPECT_EQ(status.lifecycle, Lifecycle::running);
  EXPECT_EQ(status.at, at("2025-03-03T10:00:30Z"));
  EXPECT_EQ(status.running, 1);
  EXPECT_EQ(status.tasks.at(0).state, State::running);
  EXPECT_EQ(status.tasks.at(0).reason, Reason::boot);
  EXPECT_EQ(status.tasks.at(0).pulse, at("2025-03-03T10:00:00Z"));
  gate.open();
  scheduler.stop();
  EXPECT_EQ(scheduler.status().lifecycle, Lifecycle::uninitialized);
  EXPECT_TRUE(scheduler.status().tasks.empty());
  EXPECT_EQ(status.tasks.at(0).name, "a");  // a status outlives what it describes
}

TEST(Status, outlives_its_scheduler) {
  SchedulerStatus status;
  {
    Scheduler scheduler{{.zone = Zone::utc()}};
    scheduler.initialize({{"a task with a name", "0 0 1 1 *", [] {}, 1min}});
    status = scheduler.status();
  }
  EXPECT_EQ(status.tasks.at(0).name, "a task with a name");
  EXPECT_EQ(status.tasks.at(0).cron, "0 0 1 1 *");
}

TEST_F(RuntimeStatus, answers_in_a_callback) {
  Scheduler scheduler{options()};
  std::promise<SchedulerStatus> answer;
  scheduler.initialize({{"a", "* * * * *", [&] { answer.set_value(scheduler.status()); }, 1min}});
  EXPECT_EQ(answer.get_future().get().tasks.at(0).state, State::running);
  scheduler.stop();
}

// The sink is called under the engine's mutex, and so is Options::prepare.
TEST_F(RuntimeStatus, answers_in_the_sink_and_in_the_preparation) {
  const Scheduler* asked = nullptr;
  std::vector<std::string> seen;  // by one thread at a time
  const auto ask = [&](std::string_view when) {
    seen.push_back(std::string{when} + ": " + name_of(asked->status().lifecycle));
  };
  Options asking = options();
  asking.prepare = [&] { ask("prepare"); };
  asking.events = [&](const Event& event) {
    if (event.name.starts_with("Scheduler")) ask(event.name);
  };
  Scheduler scheduler{asking};
  asked = &scheduler;
  scheduler.initialize({quick("a", "0 * * * *")});
  scheduler.stop();
  EXPECT_THAT(seen,
              testing::ElementsAre("SchedulerInitializationStarted: initializing",
                                   "prepare: initializing",
                                   "SchedulerInitializationCompleted: running",
                                   "SchedulerStopRequested: stopping",
                                   "SchedulerStopped: stopping"));
}

// I5: what is owed is left to the next scheduler.
TEST_F(RuntimeStatus, shows_a_stop_that_waits_for_a_run) {
  Scheduler scheduler{options()};
  scheduler.initialize({held("a"), quick("b", "30 * * * *")});
  journal.wait_for(1);
  std::thread stopper{[&] { scheduler.stop(); }};
  await(scheduler, [](const auto& status) { return status.lifecycle == Lifecycle::stopping; });
  clock->advance(1h);
  const SchedulerStatus status = scheduler.status();
  EXPECT_EQ(status.running, 1);
  EXPECT_EQ(status.find("b")->owed,
            (Owed{Reason::cron, at("2025-03-03T10:30:00Z"), 1, WaitsFor::restart}));
  EXPECT_EQ(status.find("a")->owed->waits_for, WaitsFor::own_run);
  EXPECT_EQ(status.find("a")->owed->pulses, 60);
  gate.open();
  stopper.join();
}

// T7: time stands still for the scheduler.
TEST_F(RuntimeStatus, keeps_its_time_while_the_clock_is_out_of_range) {
  Scheduler scheduler{options()};
  scheduler.initialize({held("a")});
  journal.wait_for(1);
  clock->advance(1min);
  await(scheduler, [](const auto& status) { return status.tasks.at(0).owed.has_value(); });
  clock->set(Instant::max());
  const SchedulerStatus status = scheduler.status();
  EXPECT_EQ(status.at, Instant::max());
  EXPECT_EQ(status.tasks.at(0).owed,
            (Owed{Reason::cron, at("2025-03-03T10:01:00Z"), 1, WaitsFor::own_run}));
  gate.open();
  const SchedulerStatus ended = await(scheduler, [](const auto& now) { return now.running == 0; });
  EXPECT_EQ(ended.tasks.at(0).owed,
            (Owed{Reason::cron, at("2025-03-03T10:01:00Z"), 1, WaitsFor::clock}));
  clock->set(at("2025-03-03T10:02:30Z"));
  journal.wait_for(2);
  scheduler.stop();
}

// The disk hangs, and the loop with it.
TEST_F(RuntimeStatus, answers_while_a_commit_hangs) {
  const TemporaryDirectory directory;
  Options stored = options();
  stored.state = directory.file("state.db");
  Scheduler scheduler{stored};
  scheduler.initialize({held("a")});
  journal.wait_for(1);
  SqliteLock lock{stored.state};
  gate.open();  // the loop tries to record the end, and waits for the lock
  for (int i = 0; i < 1000; ++i) {
    ASSERT_EQ(scheduler.status().tasks.at(0).state, State::running);
  }
  std::thread stopper{[&] { scheduler.stop(); }};
  await(scheduler, [](const auto& status) { return status.lifecycle == Lifecycle::stopping; });
  EXPECT_EQ(scheduler.status().tasks.at(0).state, State::running);
  lock.release();
  stopper.join();
}

// A sink that blocks holds the engine's mutex and the sink's.
TEST_F(RuntimeStatus, answers_while_a_sink_blocks) {
  Options blocking = options();
  blocking.events = [this](const Event& event) {
    if (event.name != "TaskRunStarted") return;
    journal.add("blocks");
    gate.pass();
  };
  Scheduler scheduler{blocking};
  scheduler.initialize({quick("a")});
  journal.wait_for(1);
  EXPECT_EQ(scheduler.status().tasks.at(0).state, State::running);
  gate.open();
  scheduler.stop();
}

TEST_F(RuntimeStatus, shows_a_store_that_fails) {
  const TemporaryDirectory directory;
  Options stored = options();
  stored.state = directory.file("state.db");
  Scheduler scheduler{stored};
  scheduler.initialize({held("a"), quick("b", "1 * * * *")});
  journal.wait_for(1);
  std::filesystem::rename(stored.state, directory.file("elsewhere"));
  clock->set(at("2025-03-03T10:01:00Z"));
  const SchedulerStatus status = await(
      scheduler, [](const SchedulerStatus& now) { return now.store_failing_since.has_value(); });
  EXPECT_EQ(status.store_failing_since, at("2025-03-03T10:01:00Z"));
  EXPECT_GT(status.store_retry_at, status.at);
  EXPECT_EQ(status.find("b")->owed,
            (Owed{Reason::cron, at("2025-03-03T10:01:00Z"), 1, WaitsFor::store}));
  std::filesystem::rename(directory.file("elsewhere"), stored.state);
  clock->advance(1min);
  const SchedulerStatus mended = await(
      scheduler, [](const SchedulerStatus& now) { return !now.store_failing_since.has_value(); });
  EXPECT_EQ(mended.store_retry_at, std::nullopt);
  gate.open();
  scheduler.stop();
}

// Everything at once: lists, stops, steps and readers. Each status must be possible.
TEST_F(RuntimeStatus, is_read_while_everything_happens) {
  Options reconciling = options();
  reconciling.reinitialize = Reinitialize::reconcile;
  reconciling.max_concurrent = 4;
  Scheduler scheduler{reconciling};
  std::vector<std::vector<Registration>> lists(2);
  for (int i = 0; i < 20; ++i) {
    lists[0].push_back({"task " + std::to_string(i), "* * * * *", [] {}, 1min});
    lists[1].push_back({"task " + std::to_string(i), "0 * * * *", [] {}, 1min});
    lists[1].push_back({"more " + std::to_string(i), "* * * * *", [] {}, 1min});
  }
  std::atomic<bool> done = false;
  std::atomic<int> reads = 0;
  std::vector<std::thread> readers;
  for (int i = 0; i < 2; ++i) {
    readers.emplace_back([&] {
      while (!done) {
        const SchedulerStatus status = scheduler.status();
        ASSERT_THAT(status.tasks.size(), testing::AnyOf(0, 20, 40));
        const bool has_tasks = !status.tasks.empty();
        ASSERT_EQ(
            has_tasks || status.lifecycle == Lifecycle::stopping,
            status.lifecycle == Lifecycle::running || status.lifecycle == Lifecycle::stopping);
        for (const TaskStatus& task : status.tasks) {
          const bool has_run = task.fence != 0;
          ASSERT_EQ(status.find(task.name), &task);
          ASSERT_EQ(task.attempt != 0, has_run);
          ASSERT_EQ(task.last_attempt.has_value(), has_run);
          ASSERT_TRUE(has_run || task.state != State::running);
          ASSERT_TRUE(!task.last_success || task.last_success >= task.first_coming);
        }
        ++reads;
      }
    });
  }
  for (int round = 0; round < 20; ++round) {
    for (const auto& list : lists) {
      scheduler.initialize(list);
      clock->advance(1min);
    }
    const int before = reads;
    while (reads < before + 2) std::this_thread::yield();
    scheduler.stop();
  }
  done = true;
  for (std::thread& reader : readers) reader.join();
}

TEST(Status, names_its_values) {
  EXPECT_STREQ(name_of(State::awaiting_run), "AwaitingRun");
  EXPECT_STREQ(name_of(State::running), "Running");
  EXPECT_STREQ(name_of(State::awaiting_retry), "AwaitingRetry");
  EXPECT_STREQ(name_of(State::interrupted), "Interrupted");
  EXPECT_STREQ(name_of(WaitsFor::nothing), "nothing");
  EXPECT_STREQ(name_of(WaitsFor::own_run), "own_run");
  EXPECT_STREQ(name_of(WaitsFor::limit), "limit");
  EXPECT_STREQ(name_of(WaitsFor::store), "store");
  EXPECT_STREQ(name_of(WaitsFor::clock), "clock");
  EXPECT_STREQ(name_of(WaitsFor::restart), "restart");
  EXPECT_STREQ(name_of(Lifecycle::uninitialized), "uninitialized");
  EXPECT_STREQ(name_of(Lifecycle::initializing), "initializing");
  EXPECT_STREQ(name_of(Lifecycle::running), "running");
  EXPECT_STREQ(name_of(Lifecycle::stopping), "stopping");
}

}  // namespace
}  // namespace dutiful
