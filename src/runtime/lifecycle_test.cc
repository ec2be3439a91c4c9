// initialize() and stop(), in turn and at once.

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

// I2: it holds the state, has changed nothing, and can still refuse.
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

// K4: what comes while it prepares was before the tasks came. S5: a trace that is judged has
// nothing against it.
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
  // E: whatever it throws comes as an error of ours, and is its cause.
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

// I5: it would wait for itself.
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

// A clock of the user's that fails does not leave it half stopped: the loop tries again.
TEST_F(Runtime, is_stopped_though_the_clock_fails_for_once) {
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
    mutable std::atomic<bool> fails = false;  // for the loop, once
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

// V: a failure comes after its beginning, whatever is at fault. I4, seed-004: a refusal on an
// active scheduler emits nothing, and until a stop has returned the error says "running".
TEST_F(Runtime, tells_what_fails_and_nothing_of_what_an_active_scheduler_refuses) {
  Options telling = options();
  telling.events = [&](const Event& event) {
    if (event.name.starts_with("SchedulerInit")) journal.add(std::string{event.name});
  };
  Scheduler scheduler{telling};
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

  // While it stops, which the run that goes on keeps it from, many are refused at once.
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

// I5: with a deadline a stop returns what still runs; the state stays held until it has ended.
TEST_F(Runtime, stops_by_a_deadline_or_says_what_still_runs) {
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
  do {  // the quick one may not have been recorded
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

// I5: a run is asked to end when the scheduler stops, and is told why.
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

// I4: concurrent lists are applied in the order in which they came, where they are reconciled.
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

// What a callback's destructor does is its own affair: it may wait for what the scheduler does.
TEST_F(Runtime, destroys_the_callbacks_of_the_list_before_without_a_lock) {
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

// The same, where its last run outlives the list.
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

// I5: whoever owns the scheduler may be owned by a callback.
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

// The same on a worker's thread, which may be the last to hold a callback whose run has ended and
// whose task is gone.
TEST_F(Runtime, refuses_to_be_stopped_by_the_destructor_of_a_callback_on_its_own_thread) {
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
  scheduler.initialize({});  // after which the loop has let go of the run
  scheduler.initialize({});
  forgotten.open();
  EXPECT_EQ(journal.wait_for(2), (Entries{"completed", "destroyed"}));
  scheduler.stop();
}

TEST_F(Runtime, stops_at_once_where_nothing_was_initialized) {
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

// I4: only the first of concurrent calls proceeds; the others are told.
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
  clock.advance(1h);  // nobody is left whom that could wake
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
