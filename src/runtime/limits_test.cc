// Bounds: callbacks at one time, threads, time limits.

#include <atomic>
#include <future>
#include <mutex>
#include <set>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/runtime_in_test.h"

namespace dutiful {
namespace {

using namespace std::chrono_literals;

// X1
TEST_F(Runtime, bounds_the_callbacks_at_one_time) {
  Options bounded = options();
  bounded.max_concurrent = 2;
  Scheduler scheduler{bounded};
  std::atomic<int> now = 0;
  std::atomic<int> most = 0;
  std::vector<Registration> list;
  for (int i = 0; i < 50; ++i) {
    list.push_back({"task " + std::to_string(i),
                    "0 * * * *",
                    [&] {
                      const int running = ++now;
                      int seen = most;
                      while (running > seen && !most.compare_exchange_weak(seen, running)) {
                      }
                      std::this_thread::yield();
                      --now;
                      journal.add("done");
                    },
                    1min});
  }
  scheduler.initialize(list);
  journal.wait_for(50);
  scheduler.stop();
  EXPECT_LE(most, 2);
}

// More callbacks that wait than there were threads at first: the threads come.
TEST_F(Runtime, gives_every_waiting_callback_a_thread) {
  Scheduler scheduler{options()};
  Gate gate;
  std::mutex mutex;
  std::set<std::thread::id> threads;
  std::vector<Registration> list;
  for (int i = 0; i < 40; ++i) {
    list.push_back({"task " + std::to_string(i),
                    "0 * * * *",
                    [&] {
                      {
                        const std::lock_guard lock{mutex};
                        threads.insert(std::this_thread::get_id());
                      }
                      journal.add("waits");
                      gate.pass();
                    },
                    1min});
  }
  scheduler.initialize(list);
  EXPECT_EQ(journal.wait_for(40).size(), 40U);
  EXPECT_EQ(threads.size(), 40U);
  gate.open();
  scheduler.stop();
}

// X2
TEST_F(Runtime, asks_a_run_to_stop_when_its_time_is_over) {
  Scheduler scheduler{options()};
  std::atomic<int> runs = 0;
  scheduler.initialize(
      {{.name = "a",
        .cron = "0 * * * *",
        .callback =
            [&](const RunInfo& run) {
              if (++runs > 1) {
                journal.add("again");
                return;
              }
              std::promise<void> asked;
              const std::stop_callback on_stop{run.stop, [&] { asked.set_value(); }};
              journal.add("runs");
              asked.get_future().wait();
            },
        .retry_delay = 0ms,
        .time_limit = 10s}});
  journal.wait_for(1);
  clock->advance(10s);
  // It returned as if all were well, but too late: it has failed, and is tried again.
  EXPECT_EQ(journal.wait_for(2), (Entries{"runs", "again"}));
  scheduler.stop();
}

// X2, I5: a limit holds while a stop waits; a callback that does not heed it is waited for.
TEST_F(Runtime, enforces_limits_while_it_stops) {
  std::vector<std::string> failures;
  Options telling = options();
  telling.events = [&](const Event& event) {
    if (event.name == "TaskRunFailed") failures.push_back(to_json(event));
    if (event.name == "SchedulerStopRequested") journal.add("stopping");
  };
  Scheduler scheduler{telling};
  Gate gate;
  std::atomic<bool> stopped = false;
  const auto limited = [&](const char* name, auto wait) {
    return Registration{.name = name,
                        .cron = "0 * * * *",
                        .callback =
                            [&, wait](const RunInfo& run) {
                              journal.add("runs");
                              wait(run);
                            },
                        .retry_delay = 1h,
                        .time_limit = 10s};
  };
  scheduler.initialize(
      {limited("heeds",
               [](const RunInfo& run) {
                 std::promise<void> asked;
                 const std::stop_callback on_stop{run.must_end, [&] { asked.set_value(); }};
                 asked.get_future().wait();
                 EXPECT_EQ(run.stop_reason(), StopReason::time_limit);  // which presses more
               }),
       limited("does not", [&](const RunInfo& /*run*/) { gate.pass(); })});
  journal.wait_for(2);
  std::thread stopper{[&] {
    scheduler.stop();
    stopped = true;
  }};
  journal.wait_for(3);
  clock->advance(10s);
  EXPECT_FALSE(stopped);
  gate.open();
  stopper.join();
  ASSERT_EQ(failures.size(), 2);
  for (const std::string& failure : failures) {
    EXPECT_NE(failure.find("it ran past its time limit"), std::string::npos) << failure;
  }
}

// X2: what a run says of its own failure is kept.
TEST_F(Runtime, keeps_the_error_of_a_run_past_its_time_limit) {
  Options telling = options();
  telling.events = [&](const Event& event) {
    if (event.name == "TaskRunFailed") journal.add(to_json(event));
  };
  Scheduler scheduler{telling};
  Gate begun;
  scheduler.initialize(
      {{.name = "a",
        .cron = "0 * * * *",
        .callback =
            [&](const RunInfo& run) {
              std::promise<void> asked;
              const std::stop_callback on_stop{run.stop, [&] { asked.set_value(); }};
              begun.open();
              asked.get_future().wait();
              throw std::runtime_error("the tape was full");
            },
        .retry_delay = 1h,
        .time_limit = 10s}});
  begun.pass();
  clock->advance(10s);
  EXPECT_THAT(journal.wait_for(1).front(),
              testing::HasSubstr("it ran past its time limit: the tape was full"));
  scheduler.stop();
}

// V: a duration is by a clock that nobody sets.
TEST_F(Runtime, measures_durations_by_a_clock_that_is_never_set) {
  Options telling = options();
  telling.events = [&](const Event& event) {
    if (event.name == "TaskRunCompleted") journal.add(to_json(event));
  };
  Scheduler scheduler{telling};
  Gate begun;
  Gate gate;
  scheduler.initialize({{"a",
                         "0 * * * *",
                         [&] {
                           begun.open();
                           gate.pass();
                         },
                         1h}});
  begun.pass();
  clock->advance(30s);
  clock->set(clock->now() - 1h);
  clock->advance(10s);
  gate.open();
  EXPECT_THAT(journal.wait_for(1).front(), testing::HasSubstr("\"duration\":40000"));
  scheduler.stop();
}

}  // namespace
}  // namespace dutiful
