// initialize() and stop(), one after the other and at the same time.

#include <atomic>
#include <stdexcept>
#include <thread>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/runtime_in_test.h"
#include "support/temporary_directory.h"

namespace dutiful {
namespace {

using namespace std::chrono_literals;
using testing::Each;
using testing::HasSubstr;
using testing::Not;

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

// I2: while it prepares, the scheduler holds the state and has changed nothing.
TEST_F(Runtime, prepares_before_it_begins) {
  const TemporaryDirectory directory;
  Options prepared = options();
  prepared.state = directory.file("state.db");
  prepared.reinitialize = Reinitialize::reconcile;
  Scheduler other{prepared};
  int times = 0;
  bool refuses = true;
  prepared.prepare = [&] {
    ++times;
    EXPECT_THROW(other.initialize({}), StateHeldError);
    EXPECT_EQ(journal.size(), 0);
    if (refuses) throw std::runtime_error("not yet");
  };
  Scheduler scheduler{prepared};
  const Registration due{"a", "0 * * * *", [&] { journal.add("a"); }, 1min};
  EXPECT_THROW(scheduler.initialize({due}), InitializeSchedulerError);
  EXPECT_NO_THROW(other.initialize({}));
  other.stop();
  EXPECT_EQ(journal.size(), 0);

  refuses = false;
  scheduler.initialize({due});
  journal.wait_for(1);
  scheduler.initialize({due});
  EXPECT_EQ(times, 2);
  scheduler.stop();
}

// K4: a pulse during the preparation was before the tasks existed. S5: the trace shows no
// violation.
TEST_F(Runtime, begins_when_it_is_prepared) {
  const TemporaryDirectory directory;
  Journal events;
  Options prepared = options();
  prepared.trace = directory.file("trace");
  prepared.verify = true;
  prepared.events = [&](const Event& event) { events.add(to_json(event)); };
  bool refuses = true;
  prepared.prepare = [&] {
    clock->advance(50s);
    if (refuses) throw 1;
  };
  Scheduler scheduler{prepared};
  const std::vector<Registration> list{
      {"a", "* * * * *", [&](const RunInfo& run) { journal.add(run.key()); }, 1min}};
  // E: the error is ours, and what the preparation threw is its cause.
  try {
    scheduler.initialize(list);
    FAIL();
  } catch (const InitializeSchedulerError& error) {
    EXPECT_STREQ(error.what(), "Failed to initialize scheduler: unknown error");
    EXPECT_THROW(std::rethrow_exception(error.cause()), int);
  }
  EXPECT_THAT(events.wait_for(1).back(), HasSubstr("SchedulerInitializationFailed"));
  EXPECT_THAT(events.wait_for(1).back(), HasSubstr("unknown error"));
  refuses = false;
  scheduler.initialize(list);
  EXPECT_EQ(journal.wait_for(1), Entries{"a@2025-03-03T10:02:00.000Z"});
  scheduler.stop();
  EXPECT_THAT(events.wait_for(1), Each(Not(HasSubstr("TheoryViolated"))));
}

// I5: stop() would wait for itself.
TEST_F(Runtime, cannot_be_stopped_while_it_prepares) {
  Options prepared = options();
  Scheduler* prepares = nullptr;
  prepared.prepare = [&] {
    EXPECT_THROW(prepares->stop(), StopSchedulerError);
    EXPECT_THROW(prepares->initialize({}), SchedulerAlreadyActiveError);
  };
  Scheduler scheduler{prepared};
  prepares = &scheduler;
  scheduler.initialize({});
  scheduler.stop();
}

// If the user's clock fails, the loop tries again, so the scheduler is not left half stopped.
TEST_F(Runtime, stops_even_if_the_clock_fails_once) {
  class FailingClock : public ManualClock {
   public:
    using ManualClock::ManualClock;
    [[nodiscard]] Instant now() const override {
      if (std::this_thread::get_id() != here && fails.exchange(false)) {
        throw std::runtime_error("no time");
      }
      return ManualClock::now();
    }
    const std::thread::id here = std::this_thread::get_id();
    mutable std::atomic<bool> fails = false;  // once, on the loop
  };
  const auto failing = std::make_shared<FailingClock>(clock->now());
  Options with_it = options();
  with_it.clock = failing;
  Scheduler scheduler{with_it};
  scheduler.initialize({});
  failing->fails = true;
  scheduler.stop();
  EXPECT_FALSE(failing->fails);
}

// V, I2: while the clock fails, initialize() returns with an error, which it reports.
TEST_F(Runtime, refuses_a_list_while_the_clock_fails) {
  class FailingClock : public ManualClock {
   public:
    using ManualClock::ManualClock;
    [[nodiscard]] Instant now() const override {
      if (fails) throw std::runtime_error("no time");
      return ManualClock::now();
    }
    std::atomic<bool> fails = false;
  };
  const auto failing = std::make_shared<FailingClock>(clock->now());
  Options with_it = options();
  with_it.clock = failing;
  with_it.reinitialize = Reinitialize::reconcile;
  Journal events;
  with_it.events = [&](const Event& event) {
    if (event.name.starts_with("Scheduler")) events.add(std::string{event.name});
  };
  bool fails_late = false;
  with_it.prepare = [&] { failing->fails = fails_late; };
  const Registration due{"a", "* * * * *", [&] { journal.add("a"); }, 1min};

  Scheduler scheduler{with_it};
  failing->fails = true;
  EXPECT_THROW(scheduler.initialize({due}), InitializeSchedulerError);
  failing->fails = false;
  fails_late = true;
  EXPECT_THROW(scheduler.initialize({due}), InitializeSchedulerError);
  failing->fails = false;
  EXPECT_EQ(scheduler.status().lifecycle, SchedulerStatus::Lifecycle::uninitialized);
  EXPECT_EQ(events.wait_for(4),
            (Entries{"SchedulerInitializationStarted",
                     "SchedulerInitializationFailed",
                     "SchedulerInitializationStarted",
                     "SchedulerInitializationFailed"}));

  // The previous list runs on.
  fails_late = false;
  scheduler.initialize({due});
  journal.wait_for(1);
  failing->fails = true;
  EXPECT_THROW(scheduler.initialize({}), InitializeSchedulerError);
  failing->fails = false;
  EXPECT_EQ(events.wait_for(8).at(6), "SchedulerReinitializationStarted");
  EXPECT_EQ(events.wait_for(8).at(7), "SchedulerInitializationFailed");
  failing->advance(1min);
  EXPECT_EQ(journal.wait_for(2), (Entries{"a", "a"}));
  scheduler.stop();
}

// I3: everything is checked first, and the first invalid registration is reported.
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
TEST_F(Runtime, takes_a_second_list_while_it_runs_if_it_reconciles) {
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
  scheduler.stop();  // a second time
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

// V: SchedulerInitializationStarted precedes every failure. I4, seed-004: a list that an active
// scheduler rejects is not reported, and until stop() returns the error says "running".
TEST_F(Runtime, reports_failures_but_not_lists_that_an_active_scheduler_rejects) {
  Options reporting = options();
  reporting.events = [&](const Event& event) {
    if (event.name.starts_with("SchedulerInit")) journal.add(std::string{event.name});
  };
  Scheduler scheduler{reporting};
  EXPECT_THROW(scheduler.initialize({{"a", "* * * * *", {}, 0s}}), InvalidRegistrationError);
  EXPECT_EQ(journal.wait_for(2),
            (Entries{"SchedulerInitializationStarted", "SchedulerInitializationFailed"}));

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
  EXPECT_EQ(journal.wait_for(4).back(), "SchedulerInitializationCompleted");
  const auto refused = [&] {
    try {
      scheduler.initialize(list);
      return std::string{};
    } catch (const SchedulerAlreadyActiveError& error) {
      return error.current_state();
    }
  };
  EXPECT_EQ(refused(), "running");

  // While it waits for a run to stop, many lists are rejected at the same time.
  ran.wait_for(1);
  EXPECT_EQ(scheduler.stop(0ms), std::vector<std::string>{"a"});
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int j = 0; j < 25; ++j) EXPECT_EQ(refused(), "running");
    });
  }
  for (std::thread& thread : threads) thread.join();
  gate.open();
  scheduler.stop();
  EXPECT_EQ(journal.size(), 4);
}

// I5: with a deadline, stop() returns what still runs; the state is held until that has ended.
TEST_F(Runtime, stops_by_a_deadline_or_returns_what_still_runs) {
  const TemporaryDirectory directory;
  Options durable = options();
  durable.state = directory.file("state.db");
  Gate gate;
  const std::vector<Registration> list{{"b", "* * * * *", [&] { gate.pass(); }, 1min},
                                       {"a", "* * * * *", [&] { gate.pass(); }, 1min},
                                       {"quick", "* * * * *", [&] { journal.add("ran"); }, 1min}};
  Scheduler scheduler{durable};
  scheduler.initialize(list);
  journal.wait_for(1);
  std::vector<std::string> running;
  do {  // the end of the quick one may not be recorded yet
    running = scheduler.stop(0ms);
  } while (running.size() > 2);
  EXPECT_EQ(running, (std::vector<std::string>{"a", "b"}));
  Scheduler other{durable};
  EXPECT_THROW(other.initialize(list), StateHeldError);

  gate.open();
  EXPECT_TRUE(scheduler.stop(1h).empty());
  EXPECT_TRUE(scheduler.stop(0ms).empty());
  EXPECT_NO_THROW(other.initialize({}));
}

// I5: when the scheduler stops, runs are asked to end, with the reason.
TEST_F(Runtime, asks_runs_to_end_when_it_stops) {
  Scheduler scheduler{options()};
  Gate begun;
  scheduler.initialize({{"a",
                         "* * * * *",
                         [&](const RunInfo& run) {
                           EXPECT_FALSE(run.stop_reason());
                           Gate asked;
                           const std::stop_callback on_stop{run.stop, [&] { asked.open(); }};
                           begun.open();
                           asked.pass();
                           journal.add(name_of(run.stop_reason().value()));
                           EXPECT_FALSE(run.must_end.stop_requested());
                         },
                         1min}});
  begun.pass();
  scheduler.stop();
  EXPECT_EQ(journal.wait_for(1), Entries{"stopping"});
}

// I4: with `reconcile`, concurrent lists are applied in the order of the calls.
TEST_F(Runtime, applies_concurrent_lists_one_after_the_other) {
  Options reconciling = options();
  reconciling.reinitialize = Reinitialize::reconcile;
  Scheduler scheduler{reconciling};
  std::vector<std::thread> threads;
  std::atomic<int> applied = 0;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      for (int j = 0; j < 20; ++j) {
        scheduler.initialize({{"t" + std::to_string(i), "0 0 1 1 *", [] {}, 1min}});
        ++applied;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(applied, 160);
  scheduler.stop();
}

// The destructor of a callback may do anything, even wait for the scheduler.
TEST_F(Runtime, destroys_the_callbacks_of_the_previous_list_without_a_lock) {
  Options reconciling = options();
  reconciling.reinitialize = Reinitialize::reconcile;
  Scheduler scheduler{reconciling};
  Gate begun;
  std::shared_ptr<void> guard{nullptr, [&](void*) {
                                begun.pass();
                                journal.add("destroyed");
                              }};
  scheduler.initialize({{"a", "0 0 1 1 *", [guard = std::move(guard)] {}, 1min}});
  scheduler.initialize({{"b", "* * * * *", [&] { begun.open(); }, 1min}});
  EXPECT_EQ(journal.wait_for(1), Entries{"destroyed"});
  scheduler.stop();
}

// The same if its last run outlives the list.
TEST_F(Runtime, destroys_the_callback_of_a_removed_task_without_a_lock) {
  Options reconciling = options();
  reconciling.reinitialize = Reinitialize::reconcile;
  Scheduler scheduler{reconciling};
  Gate a_begun;
  Gate b_begun;
  Gate a_may_end;
  Gate b_may_end;
  std::shared_ptr<void> guard{
      nullptr, [&](void*) {
        std::thread{[&] { EXPECT_EQ(scheduler.stop(0ms), std::vector<std::string>{"b"}); }}.join();
        journal.add("destroyed");
      }};
  scheduler.initialize({{"a",
                         "* * * * *",
                         [&, guard = std::move(guard)] {
                           a_begun.open();
                           a_may_end.pass();
                         },
                         1min}});
  a_begun.pass();
  scheduler.initialize({{"b",
                         "* * * * *",
                         [&] {
                           b_begun.open();
                           b_may_end.pass();
                         },
                         1min}});
  b_begun.pass();
  a_may_end.open();
  EXPECT_EQ(journal.wait_for(1), Entries{"destroyed"});
  b_may_end.open();
  scheduler.stop();
}

// I4: under `reconcile` it may also apply a list.
TEST_F(Runtime, takes_a_list_from_the_destructor_of_a_callback) {
  Options reconciling = options();
  reconciling.reinitialize = Reinitialize::reconcile;
  Scheduler scheduler{reconciling};
  std::shared_ptr<void> guard{
      nullptr, [&](void*) {
        scheduler.initialize({{"c", "* * * * *", [&] { journal.add("c"); }, 1min}});
        journal.add("applied");
      }};
  scheduler.initialize({{"a", "0 0 1 1 *", [guard = std::move(guard)] {}, 1min}});
  scheduler.initialize({{"b", "0 0 1 1 *", [] {}, 1min}});
  EXPECT_THAT(journal.wait_for(2), testing::UnorderedElementsAre("applied", "c"));
  scheduler.stop();
}

// I4, I5: a list that is refused is destroyed when its initialize() no longer counts as in
// progress.
TEST_F(Runtime, survives_calls_from_the_destructor_of_a_refused_callback) {
  Scheduler scheduler{options()};
  const auto guarded = [&](const char* cron) {
    std::shared_ptr<void> guard{nullptr, [&](void*) {
                                  EXPECT_THROW(scheduler.stop(), StopSchedulerError);
                                  journal.add(std::string{name_of(scheduler.status().lifecycle)});
                                  try {
                                    scheduler.initialize({});
                                    journal.add("initialized");
                                  } catch (const SchedulerAlreadyActiveError& error) {
                                    journal.add(error.current_state());
                                  }
                                }};
    std::vector<Registration> list;
    list.push_back({"a", cron, [guard = std::move(guard)] {}, 1min});
    return list;
  };

  EXPECT_THROW(scheduler.initialize(guarded("*/5 * * * *")), CronExpressionInvalidError);
  EXPECT_EQ(journal.wait_for(2), (Entries{"uninitialized", "initialized"}));
  EXPECT_THROW(scheduler.initialize(guarded("* * * * *")), SchedulerAlreadyActiveError);
  EXPECT_EQ(journal.wait_for(4), (Entries{"uninitialized", "initialized", "running", "running"}));
  scheduler.stop();
}

// I5: a callback may own the owner of the scheduler.
TEST_F(Runtime, refuses_to_be_stopped_by_the_destructor_of_a_callback) {
  Scheduler scheduler{options()};
  std::shared_ptr<void> guard{nullptr, [&](void*) {
                                EXPECT_THROW(scheduler.stop(), StopSchedulerError);
                                journal.add("destroyed");
                              }};
  scheduler.initialize({{"a", "0 0 1 1 *", [guard = std::move(guard)] {}, 1min}});
  scheduler.stop();
  EXPECT_EQ(journal.size(), 1U);
}

// The same on a worker, which may be the last to hold the callback of a removed task.
TEST_F(Runtime, refuses_to_be_stopped_by_the_destructor_of_a_callback_on_a_worker) {
  Options reconciling = options();
  reconciling.reinitialize = Reinitialize::reconcile;
  reconciling.events = [&](const Event& event) {
    if (event.name == "TaskRunCompleted") journal.add("completed");
  };
  Scheduler scheduler{reconciling};
  Gate forgotten;
  std::shared_ptr<void> guard{nullptr, [&](void*) {
                                EXPECT_THROW(scheduler.stop(), StopSchedulerError);
                                journal.add("destroyed");
                              }};
  scheduler.initialize({{"a",
                         "* * * * *",
                         [&, guard = std::move(guard)](dutiful::Run run) {
                           run.succeed();
                           forgotten.pass();
                         },
                         1min}});
  EXPECT_EQ(journal.wait_for(1), Entries{"completed"});
  scheduler.initialize({});  // after this the loop no longer holds the run
  scheduler.initialize({});
  forgotten.open();
  EXPECT_EQ(journal.wait_for(2), (Entries{"completed", "destroyed"}));
  scheduler.stop();
}

TEST_F(Runtime, stops_at_once_if_it_was_never_initialized) {
  Scheduler scheduler{options()};
  scheduler.stop();
  EXPECT_TRUE(scheduler.stop(0ms).empty());
  scheduler.initialize({{"a", "* * * * *", [&] { journal.add("a"); }, 1min}});
  EXPECT_EQ(journal.wait_for(1), Entries{"a"});
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

// I4: only the first of concurrent calls proceeds; the others throw.
void hammer(Options chosen, Reinitialize reinitialize, ManualClock& clock) {
  Journal journal;
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
  clock.advance(1h);  // there is no scheduler to wake
  EXPECT_EQ(journal.size(), runs);
}

TEST_F(Runtime, survives_many_threads_at_once) {
  hammer(options(), Reinitialize::reject, *clock);
}
TEST_F(Runtime, survives_many_threads_at_once_that_reconcile) {
  hammer(options(), Reinitialize::reconcile, *clock);
}

}  // namespace
}  // namespace dutiful
