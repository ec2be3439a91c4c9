#include <algorithm>
#include <atomic>
#include <future>
#include <thread>

#include <gtest/gtest.h>

#include <dutiful/dutiful.h>
#include <dutiful/testing.h>

#include "support/journal.h"
#include "support/temporary_directory.h"
#include "support/times.h"

namespace dutiful {
namespace {

using namespace std::chrono_literals;

class Runtime : public testing::Test {
 protected:
  std::shared_ptr<ManualClock> clock = std::make_shared<ManualClock>(at("2025-03-03T10:00:30Z"));
  Journal journal;

  [[nodiscard]] Options options() const { return {.zone = Zone::utc(), .clock = clock}; }
  void hammer(Reinitialize reinitialize);
};

TEST_F(Runtime, starts_a_task_when_it_is_due) {
  Scheduler scheduler{options()};
  scheduler.initialize({{"a", "1 * * * *", [&] { journal.add("a"); }, 1min}});
  clock->advance(29s);
  EXPECT_EQ(journal.size(), 0);
  clock->advance(1s);
  EXPECT_EQ(journal.wait_for(1), Entries{"a"});
  clock->advance(1h);
  EXPECT_EQ(journal.wait_for(2).size(), 2);
}

// ManualClock: what is due has been started when advance() returns, from the first call on.
TEST_F(Runtime, has_started_what_is_due_when_the_clock_returns) {
  for (int i = 0; i < 50; ++i) {
    Journal counted;
    {
      Scheduler scheduler{options()};
      scheduler.initialize({{"a", "1 * * * *", [&] { counted.add("a"); }, 1min}});
      clock->advance(1h);
    }
    ASSERT_EQ(counted.size(), 1);
  }
}

// K4: it runs at once if and only if the current minute matches.
TEST_F(Runtime, starts_at_once_in_a_matching_minute) {
  Scheduler scheduler{options()};
  scheduler.initialize({{"now",
                         "0 * * * *",
                         [&](const RunInfo& run) {
                           EXPECT_EQ(run.reason, Reason::boot);
                           EXPECT_EQ(run.attempt, 1);
                           journal.add(run.task);
                         },
                         1min},
                        {"later", "1 * * * *", [&] { journal.add("later"); }, 1min}});
  EXPECT_EQ(journal.wait_for(1), Entries{"now"});
}

// K5, K7: any failure is retried after its delay, to the millisecond.
TEST_F(Runtime, retries_whatever_way_a_callback_fails) {
  Scheduler scheduler{options()};
  int run_number = 0;
  scheduler.initialize({{"a",
                         "0 * * * *",
                         [&](dutiful::Run run) {
                           journal.add(run.info().key());
                           switch (++run_number) {
                             case 1:
                               throw 42;
                             case 2:
                               throw std::runtime_error("no");
                             case 3:
                               run.fail("on purpose");
                               return;
                             case 4:
                               return;  // dropped
                             default:
                               run.succeed();
                           }
                         },
                         1500ms}});
  for (std::size_t runs = 1; runs <= 5; ++runs) {
    journal.wait_for(runs);
    // The end of a run reaches the scheduler by another thread: give it time that counts for
    // nothing.
    for (int i = 0; i < 2000 && journal.size() == runs && runs < 5; ++i) {
      clock->advance(1ms);
      std::this_thread::yield();
    }
  }
  EXPECT_EQ(journal.wait_for(5),
            (Entries{"a@2025-03-03T10:00:00.000Z#1",
                     "a@2025-03-03T10:00:00.000Z#2",
                     "a@2025-03-03T10:00:00.000Z#3",
                     "a@2025-03-03T10:00:00.000Z#4",
                     "a@2025-03-03T10:00:00.000Z#5"}));
  scheduler.stop();
  EXPECT_EQ(journal.size(), 5);
}

// P1, T6: what was missed while nobody was there is run once.
TEST_F(Runtime, remembers_across_restarts) {
  const TemporaryDirectory directory;
  Options with_state = options();
  with_state.state = directory.file("state.db");
  const std::vector<Registration> list{
      {"a",
       "0 * * * *",
       [&](const RunInfo& run) { journal.add(run.reason == Reason::cron ? "cron" : "other"); },
       1min}};
  {
    Scheduler scheduler{with_state};
    scheduler.initialize(list);
    journal.wait_for(1);
  }
  clock->advance(5h);
  Scheduler scheduler{with_state};
  scheduler.initialize(list);
  EXPECT_EQ(journal.wait_for(2), (Entries{"other", "cron"}));
  scheduler.stop();
  EXPECT_EQ(journal.size(), 2);
}

// P6
TEST_F(Runtime, refuses_a_state_that_another_scheduler_holds) {
  const TemporaryDirectory directory;
  Options with_state = options();
  with_state.state = directory.file("state.db");
  Scheduler first{with_state};
  first.initialize({});
  Scheduler second{with_state};
  EXPECT_THROW(second.initialize({}), StateHeldError);
  first.stop();
  EXPECT_NO_THROW(second.initialize({}));
}

// I3: everything is checked first, and the first that is wrong is reported.
TEST_F(Runtime, refuses_invalid_lists_and_stays_uninitialized) {
  Scheduler scheduler{options()};
  const auto nothing = [] {};
  EXPECT_THROW(scheduler.initialize({{"", "* * * * *", nothing, 0s}}), InvalidRegistrationError);
  EXPECT_THROW(scheduler.initialize({{"a", "* * * * *", {}, 0s}}), InvalidRegistrationError);
  EXPECT_THROW(
      scheduler.initialize({{"a", "*/5 * * * *", nothing, 0s}, {"b", "* * * * *", {}, 0s}}),
      CronExpressionInvalidError);
  EXPECT_THROW(scheduler.initialize({{"a", "* * * * *", nothing, -1ms}}), NegativeRetryDelayError);
  EXPECT_THROW(
      scheduler.initialize({{"a", "* * * * *", nothing, 0s}, {"a", "* * * * *", nothing, 0s}}),
      ScheduleDuplicateTaskError);
  EXPECT_NO_THROW(scheduler.initialize({}));
}

// I4
TEST_F(Runtime, refuses_a_second_list_while_it_runs) {
  Scheduler scheduler{options()};
  scheduler.initialize({});
  try {
    scheduler.initialize({});
    FAIL();
  } catch (const SchedulerAlreadyActiveError& error) {
    EXPECT_STREQ(error.what(), "Cannot initialize scheduler: scheduler is already running");
    EXPECT_EQ(error.current_state(), "running");
  }
}

// I4, reconcile
TEST_F(Runtime, takes_a_second_list_while_it_runs_where_told_to) {
  Options reconciling = options();
  reconciling.reinitialize = Reinitialize::reconcile;
  Scheduler scheduler{reconciling};
  Gate gate;
  scheduler.initialize({{"old",
                         "0 * * * *",
                         [&] {
                           journal.add("old");
                           gate.pass();
                         },
                         1min}});
  journal.wait_for(1);
  scheduler.initialize({{"new", "0 * * * *", [&] { journal.add("new"); }, 1min}});
  EXPECT_EQ(journal.wait_for(2), (Entries{"old", "new"}));
  gate.open();
  scheduler.stop();
}

// I5
TEST_F(Runtime, waits_for_running_callbacks_when_it_stops) {
  Scheduler scheduler{options()};
  Gate gate;
  std::atomic<bool> ended = false;
  scheduler.initialize({{"a",
                         "0 * * * *",
                         [&] {
                           journal.add("a");
                           gate.pass();
                           ended = true;
                         },
                         1min}});
  journal.wait_for(1);
  std::vector<std::thread> stoppers;
  std::atomic<int> early = 0;
  for (int i = 0; i < 4; ++i) {
    stoppers.emplace_back([&] {
      scheduler.stop();
      if (!ended) ++early;
    });
  }
  gate.open();
  for (std::thread& stopper : stoppers) stopper.join();
  EXPECT_EQ(early, 0);
  scheduler.stop();  // and once more
}

TEST_F(Runtime, refuses_to_be_stopped_by_its_own_callback) {
  Scheduler scheduler{options()};
  scheduler.initialize({{"a",
                         "0 * * * *",
                         [&] {
                           try {
                             scheduler.stop();
                           } catch (const StopSchedulerError& error) {
                             journal.add(error.what());
                           }
                         },
                         1min}});
  EXPECT_EQ(journal.wait_for(1),
            Entries{"Failed to stop scheduler: it was called by a callback of the same scheduler, "
                    "which it would wait for; call it from elsewhere"});
}

// V: the scheduler tells what it does, in order.
TEST_F(Runtime, tells_what_happens) {
  std::vector<std::string> names;
  Options telling = options();
  telling.events = [&](const Event& event) { names.emplace_back(event.name); };
  {
    Scheduler scheduler{telling};
    scheduler.initialize({{"a", "0 * * * *", [&] { journal.add("a"); }, 1min}});
    journal.wait_for(1);
  }
  // Whether the run or the request to stop came first is nobody's promise.
  const auto completed = std::ranges::find(names, "TaskRunCompleted");
  ASSERT_NE(completed, names.end());
  names.erase(completed);
  // So is how many steps the loop takes.
  std::erase(names, "PollStarted");
  std::erase(names, "PollCompleted");
  EXPECT_EQ(names,
            (Entries{"SchedulerInitializationStarted",
                     "TaskAdded",
                     "TaskScheduled",
                     "SchedulerInitializationCompleted",
                     "PollingStarted",
                     "TaskRunStarted",
                     "SchedulerStopRequested",
                     "PollingStopRequested",
                     "PollingStopped",
                     "SchedulerStopped"}));
}

// V, I4: also what is refused before there is anything to check is told.
TEST_F(Runtime, tells_every_initialization_that_is_refused) {
  std::atomic<int> telling_at_once = 0;
  std::atomic<bool> overlapped = false;
  Options telling = options();
  telling.events = [&](const Event& event) {
    if (++telling_at_once > 1) overlapped = true;
    if (event.name == "SchedulerInitializationFailed") {
      EXPECT_EQ(event.level, Level::warning);
      journal.add(std::get<std::string>(event.fields.at(0).value));
    }
    --telling_at_once;
  };
  Scheduler scheduler{telling};
  EXPECT_THROW(scheduler.initialize({{"a", "* * * * *", {}, 0s}}), InvalidRegistrationError);
  EXPECT_EQ(journal.wait_for(1).back(), "Invalid registration: callback \"a\" is missing");

  Gate gate;
  Journal ran;
  const std::vector<Registration> list{{"a",
                                        "0 * * * *",
                                        [&] {
                                          ran.add("a");
                                          gate.pass();
                                        },
                                        1min}};
  scheduler.initialize(list);
  EXPECT_THROW(scheduler.initialize(list), SchedulerAlreadyActiveError);
  EXPECT_EQ(journal.wait_for(2).back(),
            "Cannot initialize scheduler: scheduler is already running");

  // While it stops, which the run that goes on keeps it from, many are refused at once.
  ran.wait_for(1);
  std::thread stopper{[&] { scheduler.stop(); }};
  const auto stopping = [](const std::string& error) { return error.ends_with("stopping"); };
  for (bool seen = false; !seen;) {
    EXPECT_THROW(scheduler.initialize(list), SchedulerAlreadyActiveError);
    seen = stopping(journal.wait_for(1).back());
  }
  const std::size_t before = journal.size();
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int j = 0; j < 25; ++j) {
        EXPECT_THROW(scheduler.initialize(list), SchedulerAlreadyActiveError);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  gate.open();
  stopper.join();
  EXPECT_EQ(journal.size(), before + 100);
  EXPECT_FALSE(overlapped);
}

TEST_F(Runtime, stops_at_once_where_nothing_was_initialized) {
  Scheduler scheduler{options()};
  scheduler.stop();
  scheduler.stop();
}

// I6, I8
TEST_F(Runtime, can_be_initialized_again_after_a_stop) {
  Scheduler scheduler{options()};
  for (int i = 0; i < 3; ++i) {
    scheduler.initialize({{"a", "1 * * * *", [&] { journal.add("a"); }, 1min}});
    scheduler.stop();
  }
  EXPECT_EQ(journal.size(), 0);
  scheduler.initialize({{"a", "1 * * * *", [&] { journal.add("a"); }, 1min}});
  clock->advance(30s);
  EXPECT_EQ(journal.wait_for(1).size(), 1);
}

// I4: only the first of concurrent calls proceeds; the others are told.
void Runtime::hammer(Reinitialize reinitialize) {
  Options chosen = options();
  chosen.reinitialize = reinitialize;
  Scheduler scheduler{chosen};
  std::atomic<int> succeeded = 0;
  std::atomic<int> refused = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      for (int round = 0; round < 50; ++round) {
        if (i % 4 == 3) {
          scheduler.stop();
          continue;
        }
        try {
          scheduler.initialize({{"a", "0 * * * *", [&] { journal.add("a"); }, 1min}});
          ++succeeded;
        } catch (const SchedulerAlreadyActiveError&) {
          ++refused;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(succeeded, 0);
  EXPECT_EQ(succeeded + refused, 300);
  scheduler.stop();
  const std::size_t runs = journal.size();
  clock->advance(1h);  // nobody is left whom that could wake
  EXPECT_EQ(journal.size(), runs);
}
TEST_F(Runtime, survives_many_threads_at_once) {
  hammer(Reinitialize::reject);
}
TEST_F(Runtime, survives_many_threads_at_once_that_reconcile) {
  hammer(Reinitialize::reconcile);
}

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
  std::vector<Registration> list;
  for (int i = 0; i < 40; ++i) {
    list.push_back({"task " + std::to_string(i),
                    "0 * * * *",
                    [&] {
                      journal.add("waits");
                      gate.pass();
                    },
                    1min});
  }
  scheduler.initialize(list);
  journal.wait_for(40);
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
                 const std::stop_callback on_stop{run.stop, [&] { asked.set_value(); }};
                 asked.get_future().wait();
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

// The real clock: nothing here waits for longer than the retries take.
TEST(RealClock, retries_after_milliseconds) {
  const TemporaryDirectory directory;
  Scheduler scheduler{{.state = directory.file("state.db"), .zone = Zone::utc()}};
  Journal journal;
  std::atomic<int> runs = 0;
  scheduler.initialize({{"a",
                         "* * * * *",
                         [&] {
                           journal.add("a");
                           if (++runs < 5) throw std::runtime_error("not yet");
                         },
                         5ms}});
  EXPECT_GE(journal.wait_for(5).size(), 5);
  scheduler.stop();
}

}  // namespace
}  // namespace dutiful
