// X3: memory runs out at each allocation in turn, and the store fails at each call in turn. No
// obligation, end or start is lost.

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

// Fails its n-th call of any kind.
class FailingStore : public MemoryStore {
 public:
  FailingStore(std::shared_ptr<MemoryState> state, int& calls_left)
      : MemoryStore(std::move(state)), calls_left_(calls_left) {
    count();
  }
  StoredState load() override {
    count();
    return MemoryStore::load();
  }
  std::vector<std::int64_t> replace(const Plan& plan, const std::string& scheduler) override {
    count();
    return MemoryStore::replace(plan, scheduler);
  }
  void commit(std::span<const RowUpdate> updates) override {
    count();
    MemoryStore::commit(updates);
  }

 private:
  void count() {
    if (--calls_left_ == 0) throw StoreError("test", "fails on purpose");
  }
  int& calls_left_;
};

// Drives an engine as the loop does, and tries again what fails.
class Driver {
 public:
  explicit Driver(int failing_call = 0) : calls_left_(failing_call) {}

  void initialize(const std::vector<TaskConfig>& list) {
    again([&] {
      const auto before = state_->rows.size();
      try {
        engine_.initialize(list, now_);
      } catch (...) {
        // I2, P4: nothing changes.
        EXPECT_EQ(state_->rows.size(), before);
        throw;
      }
    });
  }

  // Lets time pass. Every run ends in the next step, and every third run of a task fails.
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
  [[nodiscard]] bool store_failed() const { return calls_left_ <= 0; }
  [[nodiscard]] std::size_t running() const { return engine_.core().running(); }

 private:
  template <typename Work>
  void again(Work work) {
    for (int i = 0; i < 3; ++i) {
      try {
        work();
        return;
      } catch (const std::bad_alloc&) {
      } catch (const InitializeSchedulerError&) {
      } catch (const StoreError&) {
      }
    }
    ADD_FAILURE() << "once it failed, but more than one try did";
  }

  bool step() {
    for (; !running_.empty(); running_.pop_back()) {
      const auto [task, outcome] = running_.back();
      engine_.end(task, {outcome, reason_, now_, {}}, now_);
    }
    const auto started = engine_.step(now_).starts;
    const SpareAllocations spare;
    for (const Start& start : started) {
      const int number = ++starts[start.name];
      running_.emplace_back(start.task, number % 3 == 0 ? Outcome::failure : Outcome::success);
    }
    return !started.empty();
  }

  int calls_left_;  // before the store fails; 0 at the beginning: it never fails
  std::shared_ptr<MemoryState> state_ = std::make_shared<MemoryState>();
  Silence trace_;
  Engine engine_{Calendar{Zone::utc()},
                 {.reinitialize = Reinitialize::reconcile},
                 [this] { return std::make_unique<FailingStore>(state_, calls_left_); },
                 trace_,
                 [](const TypedEvent& event) { (void)publish(event); }};
  Instant now_ = at("2025-03-03T10:00:30Z");
  std::vector<std::pair<TaskId, Outcome>> running_;
  std::string reason_ = "a reason that is not kept inside a string object";
};

// Nine tasks, and a tenth that joins them while they run.
void play(Driver& driver, std::uint64_t n = 0) {
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
  fail_allocation(n);
  driver.initialize(list);
  driver.advance_to(at("2025-03-03T10:02:10Z"));
  driver.initialize(longer);
  driver.advance_to(at("2025-03-03T10:04:40Z"));
  const SpareAllocations spare;
  EXPECT_EQ(driver.running(), 0);
}

std::map<std::string, int> undisturbed() {
  Driver driver;
  play(driver);
  EXPECT_EQ(driver.starts.size(), 10);
  return driver.starts;
}

TEST(Exhaustion, loses_nothing_wherever_memory_runs_out) {
  const auto expected = undisturbed();
  std::uint64_t n = 1;
  for (bool failed = true; failed && !testing::Test::HasFailure(); ++n) {
    Driver driver;
    play(driver, n);
    failed = allocation_failed();
    fail_allocation(0);
    EXPECT_EQ(driver.starts, expected) << "where allocation " << n << " failed";
  }
  EXPECT_GT(n, 100);
}

TEST(Exhaustion, loses_nothing_whichever_call_of_the_store_fails) {
  const auto expected = undisturbed();
  int n = 1;
  for (bool failed = true; failed && !testing::Test::HasFailure(); ++n) {
    Driver driver{n};
    play(driver);
    failed = driver.store_failed();
    EXPECT_EQ(driver.starts, expected) << "where call " << n << " failed";
  }
  EXPECT_GT(n, 20);
}

}  // namespace
}  // namespace dutiful
