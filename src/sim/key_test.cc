// P8: keys and fences in random worlds, with corrected clocks (T7) too.

#include <map>
#include <random>
#include <set>
#include <utility>

#include <gtest/gtest.h>

#include "sim/world.h"
#include "support/times.h"

namespace dutiful {
namespace {

using namespace std::chrono_literals;

class NoTrace : public TraceSink {
  void on(Instant /*at*/, const TraceEvent& /*event*/) override {}
};

class Life {
 public:
  explicit Life(unsigned seed)
      : random_(seed),
        world_(Zone::load("Europe/Berlin"),
               {.reinitialize = one_in(2) ? Reinitialize::reconcile : Reinitialize::reject,
                .override = one_in(2) ? Override::reset_history : Override::keep_history,
                .max_concurrent = one_in(2) ? 2U : 0U},
               no_trace_) {
    world_.set_clock(at("2025-10-25T22:00:00Z"));  // the clocks change in the night
    world_.initialize(list());
  }

  void step() {
    switch (roll(12)) {
      case 0:  // sometimes by more than three hours
        world_.set_clock(world_.now() - Duration{roll(Duration{one_in(3) ? 10h : 1h}.count())});
        break;
      case 1:
        world_.set_clock(world_.now() + Duration{roll(Duration{one_in(3) ? 10h : 1h}.count())});
        break;
      case 2:
        world_.crash();
        break;
      case 3:
        world_.crash_in_commit(one_in(2) ? CrashIn::before_commit : CrashIn::after_commit);
        break;
      case 4:
        world_.fail_commits(1);
        break;
      case 5:
        world_.stop();
        break;
      case 6:
        world_.initialize(list());
        break;
      case 7:
      case 8:
        if (!world_.running().empty()) {
          world_.end(world_.running().begin()->first,
                     one_in(3) ? Outcome::failure : Outcome::success);
        }
        break;
      default:
        world_.set_clock(world_.now() + Duration{roll(Duration{2min}.count())});
    }
    if (world_.engine().lifecycle() == Lifecycle::uninitialized && one_in(2)) {
      world_.initialize(list());
    }
    world_.start();
    check_starts();
  }

  [[nodiscard]] int works() const { return works_; }
  [[nodiscard]] int recurring() const { return recurring_; }

 private:
  // The parts of a key besides the name.
  using Key = std::pair<Instant, std::uint64_t>;
  struct Past {
    Instant first_coming = no_instant;
    std::uint64_t fence = 0;  // of the newest run
    Key key;                  // of the newest run
    std::set<Key> used;       // since it was added
  };

  std::vector<TaskConfig> list() {
    std::vector<TaskConfig> list;
    if (!one_in(6)) list.push_back({.name = "a", .cron = "* * * * *", .retry_delay = 90s});
    if (!one_in(6)) {
      list.push_back({.name = "b",
                      .cron = one_in(6) ? "0,20,40 * * * *" : "0,10,20,30,40,50 * * * *",
                      .retry_delay = 0s});
    }
    list.push_back({.name = "c", .cron = "0 * * * *", .retry_delay = 1h});
    return list;
  }

  // A durable run has started, even if the process died before its callback ran.
  void check_starts() {
    const std::uint64_t newest = newest_fence_;
    for (const auto& [config, progress, account, stretches] : world_.state()->rows) {
      Past& past = past_[config.name];
      if (progress.fence == 0 || progress.fence == past.fence) continue;
      EXPECT_GT(progress.fence, newest) << config.name;
      newest_fence_ = std::max(newest_fence_, progress.fence);
      past.fence = progress.fence;
      check_key(config.name, progress, past);
    }
  }

  void check_key(const std::string& name, const TaskProgress& progress, Past& past) {
    const Key key{progress.pulse, progress.recurrence};
    if (progress.attempt > 1) {
      EXPECT_EQ(key, past.key) << name << ": another attempt at the same work";
      return;
    }
    // Removing or resetting a name forgets its past. It may be back at the same instant; then it
    // boots.
    const bool boots =
        progress.pulse == std::chrono::floor<std::chrono::minutes>(progress.first_coming);
    if (std::exchange(past.first_coming, progress.first_coming) != progress.first_coming || boots) {
      past.used.clear();
    }
    EXPECT_TRUE(past.used.insert(key).second) << name << ": other work";
    past.key = key;
    ++works_;
    if (progress.recurrence != 0) ++recurring_;
  }

  std::int64_t roll(std::int64_t sides) {
    return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(sides));
  }
  bool one_in(std::int64_t sides) { return roll(sides) == 0; }

  std::mt19937_64 random_;
  NoTrace no_trace_;
  World world_;
  std::uint64_t newest_fence_ = 0;
  std::map<std::string, Past> past_;
  int works_ = 0;
  int recurring_ = 0;
};

TEST(P8, keys_are_equal_only_for_the_same_work_and_fences_grow) {
  int works = 0;
  int recurring = 0;
  for (unsigned seed = 0; seed < 300 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Life life{seed};
    for (int i = 0; i < 300; ++i) life.step();
    works += life.works();
    recurring += life.recurring();
  }
  EXPECT_GT(works, 5'000);
  EXPECT_GT(recurring, 1'000);
}

}  // namespace
}  // namespace dutiful
