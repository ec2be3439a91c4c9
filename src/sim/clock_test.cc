// T7: a clock that is set back. The theory does not cover it, so the judge does not check it.

#include <map>
#include <random>

#include <gtest/gtest.h>

#include "sim/world.h"
#include "support/times.h"

namespace dutiful {
namespace {

using namespace std::chrono_literals;

class NoTrace : public TraceSink {
  void on(Instant /*at*/, const TraceEvent& /*event*/) override {}
};

// A scheduler whose clock is set back and forth, but never so far back that it counts as corrected.
class Wanderer {
 public:
  explicit Wanderer(unsigned seed)
      : random_(seed), world_(Zone::load("Europe/Berlin"), {}, no_trace_) {
    world_.set_clock(at("2025-10-25T22:00:00Z"));  // the clocks change in the night
    initialize();
  }

  void step() {
    switch (roll(10)) {
      case 0:
        world_.set_clock(std::max(world_.now() - Duration{roll(Duration{20min}.count())},
                                  latest_ - clock_ahead_max));
        break;
      case 1:
        world_.set_clock(world_.now() + Duration{roll(Duration{2h}.count())});
        break;
      case 2:
        world_.crash();
        initialize();
        break;
      case 3:
      case 4:
        if (!world_.running().empty()) {
          world_.end(world_.running().begin()->first,
                     roll(3) == 0 ? Outcome::failure : Outcome::success);
        }
        break;
      default:
        world_.set_clock(world_.now() + Duration{roll(Duration{3min}.count())});
    }
    latest_ = std::max(latest_, world_.now());
    for (const StartedRun& run : world_.start()) check(run);
  }

  [[nodiscard]] int pulses() const { return pulses_; }

 private:
  void initialize() {
    world_.initialize({{.name = "a", .cron = "* * * * *", .retry_delay = 90s},
                       {.name = "b", .cron = "0,20,40 * * * *", .retry_delay = 0s}});
  }

  void check(const StartedRun& run) {
    const TaskProgress& progress = world_.engine().core().task(run.task).progress;
    if (progress.attempt != 1) return;
    ++pulses_;
    const auto [last, is_first] = last_pulse_.try_emplace(run.name, progress.pulse);
    EXPECT_TRUE(is_first || progress.pulse > last->second) << run.name;
    last->second = progress.pulse;
  }

  std::int64_t roll(std::int64_t sides) {
    return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(sides));
  }

  std::mt19937_64 random_;
  NoTrace no_trace_;
  World world_;
  Instant latest_{};
  std::map<std::string, Instant> last_pulse_;
  int pulses_ = 0;
};

TEST(ClockSetBack, does_not_run_a_pulse_twice) {
  int pulses = 0;
  for (unsigned seed = 0; seed < 300; ++seed) {
    Wanderer wanderer{seed};
    for (int i = 0; i < 300; ++i) wanderer.step();
    pulses += wanderer.pulses();
  }
  EXPECT_GT(pulses, 1000);
}

// A clock that was hours ahead is corrected, and pulses count again from then on.
TEST(ClockSetBack, by_hours_makes_pulses_count_again) {
  NoTrace no_trace;
  World world{Zone::utc(), {}, no_trace};
  world.set_clock(at("2025-03-03T20:00:00Z"));
  world.initialize({{.name = "a", .cron = "* * * * *", .retry_delay = 1min}});
  ASSERT_EQ(world.start().size(), 1U);
  world.end(world.running().begin()->first, Outcome::success);
  world.set_clock(at("2025-03-03T12:00:30Z"));
  EXPECT_TRUE(world.start().empty());
  world.set_clock(at("2025-03-03T12:01:00Z"));
  EXPECT_EQ(world.start().size(), 1U);
}

}  // namespace
}  // namespace dutiful
