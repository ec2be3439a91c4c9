// X3: memory runs out at each allocation in turn, and no obligation, end or start is lost by it.

#include <map>

#include <gtest/gtest.h>

#include "engine/engine.h"
#include "store/memory/memory_store.h"
#include "support/allocations.h"
#include "support/times.h"

namespace dutiful {
namespace {

using namespace std::chrono_literals;

class Silence : public TraceSink {
 public:
  void on(Instant /*at*/, const TraceEvent& /*event*/) override {}
};

// Drives an engine as the loop does: what runs out of memory is tried again.
class Driver {
 public:
  void initialize(const std::vector<TaskConfig>& list) {
    again([&] {
      const auto before = state_->rows.size();
      try {
        engine_.initialize(list, now_);
      } catch (...) {
        // I2, P4: nothing has changed.
        EXPECT_EQ(state_->rows.size(), before);
        throw;
      }
    });
  }

  // Lets time pass. Every run ends in the next step, and every third of a task fails.
  void advance_to(Instant until) {
    while (true) {
      bool more = true;
      again([&] { more = step(); });
      if (more) continue;
      if (engine_.next_wake() > until) break;
      now_ = std::max(now_, engine_.next_wake());
    }
    now_ = until;
  }

  std::map<std::string, int> starts;
  [[nodiscard]] std::size_t running() const { return engine_.core().running(); }

 private:
  template <typename Work>
  void again(Work work) {
    for (int i = 0; i < 3; ++i) {
      try {
        work();
        return;
      } catch (const std::bad_alloc&) {
      }
    }
    ADD_FAILURE() << "one allocation failed, but more than one try did";
  }

  bool step() {
    for (; !running_.empty(); running_.pop_back()) {
      const auto [task, outcome] = running_.back();
      engine_.end(task, outcome, now_, reason_);
    }
    const auto started = engine_.step(now_);
    const SpareAllocations spare;
    for (const Start& start : started) {
      const int number = ++starts[engine_.core().task(start.task).config.name];
      running_.emplace_back(start.task, number % 3 == 0 ? Outcome::failure : Outcome::success);
    }
    return !started.empty();
  }

  std::shared_ptr<MemoryState> state_ = std::make_shared<MemoryState>();
  Silence trace_;
  Engine engine_{Calendar{Zone::utc()},
                 {.reinitialize = Reinitialize::reconcile},
                 [this] { return std::make_unique<MemoryStore>(state_); },
                 trace_,
                 [](const Event& /*event*/) {}};
  Instant now_ = at("2025-03-03T10:00:30Z");
  std::vector<std::pair<TaskId, Outcome>> running_;
  std::string reason_ = "a reason that is not kept inside a string object";
};

TEST(Exhaustion, loses_nothing_wherever_memory_runs_out) {
  std::vector<TaskConfig> list;
  for (int i = 0; i < 9; ++i) {
    list.push_back({.name = "a name that is not kept inside a string object " + std::to_string(i),
                    .cron = i % 3 == 0 ? "* * * * *" : "1,3 * * * *",
                    .retry_delay = Duration{7'000 + i}});
  }
  auto longer = list;
  longer.push_back({.name = "one that comes later, into a list that runs",
                    .cron = "* * * * *",
                    .retry_delay = 1s});
  const auto play = [&](std::uint64_t failing) {
    Driver driver;
    fail_allocation(failing);
    driver.initialize(list);
    driver.advance_to(at("2025-03-03T10:02:10Z"));
    driver.initialize(longer);
    driver.advance_to(at("2025-03-03T10:04:40Z"));
    const SpareAllocations spare;
    EXPECT_EQ(driver.running(), 0);
    return driver.starts;
  };

  const auto expected = play(0);
  ASSERT_EQ(expected.size(), 10);
  std::uint64_t n = 1;
  for (bool failed = true; failed && !testing::Test::HasFailure(); ++n) {
    const auto starts = play(n);
    failed = allocation_failed();
    fail_allocation(0);
    EXPECT_EQ(starts, expected) << "where allocation " << n << " failed";
  }
  EXPECT_GT(n, 100);
}

}  // namespace
}  // namespace dutiful
