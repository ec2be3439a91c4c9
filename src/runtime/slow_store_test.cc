// The store is slow, because another program writes to it, and everything happens at the same time.

#include <algorithm>
#include <atomic>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <dutiful/dutiful.h>
#include <dutiful/testing.h>

#include "support/journal.h"
#include "support/sqlite_lock.h"
#include "support/temporary_directory.h"
#include "support/times.h"

namespace dutiful {
namespace {

using namespace std::chrono_literals;

class SlowStore : public testing::Test {
 protected:
  TemporaryDirectory directory;
  std::string path = directory.file("state.db");
  std::shared_ptr<ManualClock> clock = std::make_shared<ManualClock>(at("2025-03-03T10:00:30Z"));
  Journal runs;
  Journal events;

  [[nodiscard]] Options options() {
    return {.state = path, .zone = Zone::utc(), .clock = clock, .events = [this](const Event& e) {
              events.add(std::string{e.name});
            }};
  }
  Registration task(const std::string& name, Gate* gate = nullptr) {
    return {name,
            "0 * * * *",
            [this, gate](const RunInfo& run) {
              runs.add(run.key());
              if (gate != nullptr) gate->pass();
            },
            1min};
  }
};

// I4, I5, P1: ends, a stop and an initialize() arrive while the end of a run is being recorded.
TEST_F(SlowStore, keeps_what_arrives_meanwhile) {
  Scheduler scheduler{options()};
  Gate first;
  Gate others;
  scheduler.initialize({task("a", &first), task("b", &others), task("c", &others)});
  runs.wait_for(3);

  SqliteLock lock{path};
  first.open();  // the loop records this end, and waits for the file
  others.open();
  std::atomic<bool> stopped = false;
  std::thread stopper{[&] {
    scheduler.stop();
    stopped = true;
  }};
  // Whether or not stop() entered before, the list is rejected without waiting for the store.
  EXPECT_THROW(scheduler.initialize({task("d")}), SchedulerAlreadyActiveError);
  EXPECT_FALSE(stopped);
  lock.release();
  stopper.join();

  // Every end is recorded: nothing was interrupted, and nothing runs again.
  Scheduler next{options()};
  next.initialize({task("a"), task("b"), task("c")});
  next.stop();
  EXPECT_EQ(runs.size(), 3);
  EXPECT_THAT(events.wait_for(1), testing::Not(testing::Contains("TaskOrphaned")));
}

// I4, reconcile: a new list waits for the store, and is then applied.
TEST_F(SlowStore, takes_a_new_list_after_the_record_of_an_end) {
  Options reconciling = options();
  reconciling.reinitialize = Reinitialize::reconcile;
  Scheduler scheduler{reconciling};
  Gate gate;
  scheduler.initialize({task("a", &gate)});
  runs.wait_for(1);
  SqliteLock lock{path};
  gate.open();
  std::thread second{[&] { scheduler.initialize({task("b")}); }};
  // Whether or not initialize() has reached the store: b starts only after the end of a is
  // recorded.
  runs.add("the store is free");
  lock.release();
  second.join();
  EXPECT_EQ(
      runs.wait_for(3),
      (Entries{"a@2025-03-03T10:00:00.000Z", "the store is free", "b@2025-03-03T10:00:00.000Z"}));
  scheduler.stop();
}

// I5: stop() waits for an initialize() in progress, and then stops what it started.
TEST_F(SlowStore, is_stopped_while_it_initializes) {
  { Scheduler{options()}.initialize({}); }  // makes the file
  Scheduler scheduler{options()};
  SqliteLock lock{path};
  Journal order;
  std::thread initializer{[&] {
    scheduler.initialize({task("a")});
    order.add("initialized");
  }};
  // It has reached the store, or is about to; the previous initialize() reported the same once.
  while (std::ranges::count(events.wait_for(1), "SchedulerInitializationStarted") < 2) {
    std::this_thread::yield();
  }
  std::thread stopper{[&] {
    scheduler.stop();
    order.add("stopped");
  }};
  EXPECT_THROW(scheduler.initialize({}), SchedulerAlreadyActiveError);
  EXPECT_EQ(order.size(), 0);
  lock.release();
  initializer.join();
  stopper.join();
  EXPECT_EQ(order.size(), 2);
  EXPECT_THAT(events.wait_for(1).back(), "SchedulerStopped");
  EXPECT_NO_THROW(scheduler.initialize({}));
}

}  // namespace
}  // namespace dutiful
