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
  EXPECT_THROW(scheduler.initialize({due}), std::runtime_error);
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
  EXPECT_THROW(scheduler.initialize(list), int);
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

// A clock of the user's that fails does not leave it half stopped.
TEST_F(Runtime, can_be_stopped_again_where_the_clock_failed) {
  class FailingClock : public ManualClock {
   public:
    using ManualClock::ManualClock;
    [[nodiscard]] Instant now() const override {
      if (std::this_thread::get_id() == here && std::exchange(fails, false)) {
        throw std::runtime_error("no time");
      }
      return ManualClock::now();
    }
    const std::thread::id here = std::this_thread::get_id();
    mutable bool fails = false;  // for the test's own thread, once
  };
  const auto failing = std::make_shared<FailingClock>(clock->now());
  Options with_it = options();
  with_it.clock = failing;
  Scheduler scheduler{with_it};
  scheduler.initialize({});
  failing->fails = true;
  EXPECT_THROW(scheduler.stop(), std::runtime_error);
  scheduler.stop();
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
