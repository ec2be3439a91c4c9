// X3: if the host runs out of memory or threads, the scheduler reports it, waits, and loses
// nothing.

#include <algorithm>
#include <future>
#include <system_error>

#include <gtest/gtest.h>

#include <dutiful/dutiful.h>
#include <dutiful/testing.h>

#include "runtime/active_run.h"
#include "support/allocations.h"
#include "support/few_descriptors.h"
#include "support/journal.h"
#include "support/thread_creation.h"
#include "support/times.h"

namespace dutiful {
namespace {

using namespace std::chrono_literals;

class Exhausted : public testing::Test {
 protected:
  std::shared_ptr<ManualClock> clock = std::make_shared<ManualClock>(at("2025-03-03T10:00:30Z"));
  Journal runs;
  Journal errors;

  [[nodiscard]] Options options() {
    return {.zone = Zone::utc(), .clock = clock, .events = [this](const Event& event) {
              const SpareAllocations spare;
              if (event.level != Level::error) return;
              errors.add(std::string{event.name} + ": " +
                         std::get<std::string>(event.fields.at(0).value));
            }};
  }

  // Time passes meanwhile, because the record of the last end may have to be retried.
  void stop(Scheduler& scheduler) {
    const auto stopped = std::async(std::launch::async, [&] { scheduler.stop(); });
    while (stopped.wait_for(1ms) != std::future_status::ready) clock->advance(10ms);
  }

  Registration task(const std::string& name, const char* cron) {
    return {.name = name,
            .cron = cron,
            .callback =
                [this](const RunInfo& run) {
                  const SpareAllocations spare;
                  runs.add(run.key());
                },
            .retry_delay = 1min,
            .time_limit = 1h};
  }
};

// E: not even the constructor throws an error of another kind.
TEST_F(Exhausted, cannot_be_made_without_descriptors) {
#ifdef __SANITIZE_ADDRESS__
  // At a virtual call, UndefinedBehaviorSanitizer opens a pipe to check whether the object can be
  // read, and reports it as invalid if there is no pipe.
  GTEST_SKIP() << "the sanitizer needs a pipe to look at an object";
#endif
  constexpr rlim_t needed = 3;
  for (rlim_t left = 0; left < needed; ++left) {
    const FewDescriptors few{left};
    try {
      const Scheduler scheduler{{.zone = Zone::utc()}};
      ADD_FAILURE();
    } catch (const InitializeSchedulerError& error) {
      EXPECT_STREQ(error.what(),
                   "Failed to initialize scheduler: too many files are open; raise the limit "
                   "(ulimit -n)");
      EXPECT_THROW(std::rethrow_exception(error.cause()), std::system_error);
    }
  }
  const FewDescriptors enough{needed};
  EXPECT_NO_THROW(Scheduler({.zone = Zone::utc()}));
}

// Lets every allocation of the loop and the workers fail in turn.
TEST_F(Exhausted, starts_everything_once_wherever_memory_runs_out) {
  const SpareAllocations spare;
  Options silent = options();
  silent.events = {};
  bool failed = true;
  std::uint64_t n = 1;
  for (; failed && !HasFailure(); ++n) {
    SCOPED_TRACE("where allocation " + std::to_string(n) + " failed");
    const std::size_t before = runs.size();
    clock->set(at("2025-03-03T10:00:30Z") + n * 1h);
    Scheduler scheduler{silent};
    // Due now and in a minute, and then not for an hour, so that slow threads do no harm.
    const char* cron = "0,1 * * * *";
    scheduler.initialize({task("a name that is not kept inside a string object", cron),
                          task("b", cron),
                          {"c",
                           cron,
                           [this](dutiful::Run run) {
                             const SpareAllocations spare_here;
                             runs.add(run.info().key());
                             run.succeed();
                           },
                           1min}});
    runs.wait_for(before + 3);  // at once, in the current minute
    fail_allocation(n);
    clock->advance(1min);
    // Time passes, because after a failed transaction the engine waits by the clock.
    const auto until = std::chrono::steady_clock::now() + 60s;
    while (!runs.comes(before + 6, 1ms) && std::chrono::steady_clock::now() < until) {
      clock->advance(10ms);
    }
    auto entries = runs.wait_for(before + 6);
    stop(scheduler);
    failed = allocation_failed();
    fail_allocation(0);
    EXPECT_EQ(runs.size(), before + 6);
    // Each task has run once for each of its pulses: no key occurs twice.
    entries = {entries.begin() + static_cast<std::ptrdiff_t>(before), entries.end()};
    std::ranges::sort(entries);
    EXPECT_EQ(std::ranges::adjacent_find(entries), entries.end());
    for (const std::string& key : entries) EXPECT_NE(key.front(), '@') << "its name was lost";
  }
  EXPECT_GT(n, 15);
}

// Not every allocation that fails is reported so: an event is lost in silence, and a transaction
// fails as one.
TEST_F(Exhausted, reports_that_memory_has_run_out) {
  const SpareAllocations spare;
  Scheduler scheduler{options()};
  scheduler.initialize({task("a", "* * * * *")});
  const auto is_reported = [&] {
    return std::ranges::count(errors.wait_for(0), "ResourcesExhausted: memory is exhausted") > 0;
  };
  for (std::uint64_t n = 1; !is_reported(); ++n) {
    ASSERT_LT(n, 100);
    const std::size_t before = runs.size();
    fail_allocation(n);
    clock->advance(1min);
    // Time passes, because after a failed transaction the engine waits by the clock.
    while (!runs.comes(before + 1, 1ms)) clock->advance(10ms);
  }
  fail_allocation(0);
  stop(scheduler);
}

// The end of a run needs no memory. Its reason does; without memory, a fixed one replaces it.
TEST_F(Exhausted, takes_an_end_without_memory) {
  const auto mailbox = std::make_shared<Mailbox>(*clock);
  auto run = std::make_shared<ActiveRun>(7, Callback{}, mailbox);
  fail_allocation(1);
  run->settle(Outcome::failure, "a reason that is not kept inside a string object");
  EXPECT_TRUE(allocation_failed());
  auto ended = mailbox->take();
  ASSERT_EQ(ended.size(), 1);
  EXPECT_EQ(ended.front().task, 7);
  EXPECT_EQ(ended.front().outcome, Outcome::failure);
  EXPECT_EQ(ended.front().error, "out of memory");
}

// It needs two threads: the loop and a worker.
TEST_F(Exhausted, is_not_initialized_without_a_thread) {
  for (const int threads : {0, 1}) {
    SCOPED_TRACE(threads);
    const std::size_t before = runs.size();
    Journal refused;
    Options reporting = options();
    reporting.events = [&](const Event& event) { refused.add(std::string{event.name}); };
    Scheduler scheduler{reporting};
    {
      const ThreadLimit limit{threads};
      try {
        scheduler.initialize({task("a", "0 * * * *")});
        FAIL();
      } catch (const ThreadError& error) {
        EXPECT_STREQ(
            error.what(),
            "Cannot initialize scheduler: no thread can be started; end other programs, or "
            "raise the limit on threads");
        EXPECT_THROW(std::rethrow_exception(error.cause()), std::system_error);
      }
      EXPECT_EQ(refused.wait_for(2),
                (Entries{"SchedulerInitializationStarted", "SchedulerInitializationFailed"}));
      scheduler.stop();  // there is nothing to stop
    }
    scheduler.initialize({task("a", "0 * * * *")});
    // K4: the task is new only now.
    EXPECT_EQ(runs.wait_for(before + 1).back(), "a@2025-03-03T10:00:00.000Z");
  }
}

// I5: a run that is durably started gets a thread, so stop() can wait for its end.
TEST_F(Exhausted, can_be_stopped_if_no_more_threads_can_be_started) {
  Scheduler scheduler{options()};
  Gate gate;
  std::vector<Registration> list;
  for (const char* name : {"a", "b", "c"}) {
    list.push_back({name,
                    "1 * * * *",
                    [&] {
                      runs.add("runs");
                      gate.pass();
                    },
                    1min});
  }
  scheduler.initialize(list);
  Gate go;
  const auto stopped = std::async(std::launch::async, [&] {
    go.pass();
    scheduler.stop();
  });
  const ThreadLimit limit{0};
  clock->advance(30s);
  runs.wait_for(1);
  EXPECT_EQ(errors.wait_for(1)[0],
            "ResourcesExhausted: no thread can be started for the runs that wait");
  go.open();
  gate.open();
  stopped.wait();
  EXPECT_EQ(runs.size(), 3);
}

TEST_F(Exhausted, continues_with_one_worker) {
  Scheduler scheduler{options()};
  ThreadLimit limit{2};  // the loop and one worker
  Gate gate;
  std::vector<Registration> list;
  for (const char* name : {"a", "b", "c", "d"}) {
    list.push_back({name,
                    "0 * * * *",
                    [&] {
                      runs.add("waits");
                      gate.pass();
                    },
                    1min});
  }
  scheduler.initialize(list);
  runs.wait_for(1);
  EXPECT_EQ(errors.wait_for(1)[0],
            "ResourcesExhausted: no thread can be started for the runs that wait");
  EXPECT_EQ(runs.size(), 1);
  // Threads can be started again, and the scheduler uses them while the first run continues.
  limit.set(3);
  runs.wait_for(4);
  gate.open();
  scheduler.stop();
}

}  // namespace
}  // namespace dutiful
