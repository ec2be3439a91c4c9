// T7, X3: a clock outside the years 1 to 9999 is ignored until it is back in range.

#include <atomic>

#include <gtest/gtest.h>

#include <dutiful/dutiful.h>
#include <dutiful/testing.h>

#include "support/journal.h"
#include "support/times.h"

namespace dutiful {
namespace {

using namespace std::chrono_literals;
using std::chrono::days;
using std::chrono::sys_days;
using std::chrono::year;

const Instant last_minute = at("9999-12-31T23:59:00Z");
const Instant year_10000 = sys_days{year{10000} / 1 / 1};

class ClockRange : public testing::Test {
 protected:
  std::shared_ptr<ManualClock> clock = std::make_shared<ManualClock>(at("2025-03-03T10:00:30Z"));
  Journal starts;
  Journal failures;
  Journal errors;

  [[nodiscard]] Options options() {
    return {.zone = Zone::utc(), .clock = clock, .events = [this](const Event& event) {
              if (event.level == Level::error) errors.add(to_json(event));
              if (event.name == "TaskRunFailed") failures.add(to_json(event));
            }};
  }

  [[nodiscard]] Registration task(const char* cron, Duration retry_delay) {
    return {"a",
            cron,
            [this](const RunInfo& run) {
              starts.add(run.key());
              throw std::runtime_error("not yet");
            },
            retry_delay};
  }
};

TEST_F(ClockRange, starts_nothing_until_the_clock_is_back) {
  for (const Instant outside : {year_10000,
                                Instant{sys_days{year{12000} / 1 / 1}},
                                Instant::max(),
                                Instant{sys_days{year{0} / 12 / 31}},
                                Instant::min()}) {
    SCOPED_TRACE(outside.time_since_epoch().count());
    const Instant begin = at("2025-03-03T10:00:30Z");
    clock->set(begin);
    const std::size_t started = starts.size();
    const std::size_t reported = errors.size();
    Scheduler scheduler{options()};
    scheduler.initialize({task("0 * * * *", 1min)});
    failures.wait_for(started + 1);
    for (std::size_t excursion = 1; excursion <= 2; ++excursion) {
      clock->set(outside);
      errors.wait_for(reported + excursion);
      EXPECT_EQ(starts.size(), started + excursion);
      clock->set(begin + excursion * 2min);  // the retry is due after one minute
      failures.wait_for(started + excursion + 1);
    }
    clock->set(outside);
    scheduler.stop();  // although the clock stays out of range
    EXPECT_EQ(starts.size(), started + 3);
    EXPECT_EQ(errors.size(), reported + 3);
  }
}

TEST_F(ClockRange, is_not_initialized_outside_of_it) {
  clock->set(year_10000);
  Scheduler scheduler{options()};
  EXPECT_THROW(scheduler.initialize({task("* * * * *", 1min)}), ClockError);
  scheduler.stop();  // there is nothing to stop
  clock->set(at("2025-03-03T10:00:30Z"));
  scheduler.initialize({task("* * * * *", 1min)});
  EXPECT_EQ(starts.wait_for(1), Entries{"a@2025-03-03T10:00:00.000Z"});
  scheduler.stop();
  EXPECT_EQ(errors.size(), 0U);
}

// X2: a time limit beyond the end of time never expires.
TEST_F(ClockRange, asks_no_run_to_stop_outside_of_it) {
  Scheduler scheduler{options()};
  Gate gate;
  std::atomic<bool> was_asked = false;
  scheduler.initialize({{.name = "a",
                         .cron = "* * * * *",
                         .callback =
                             [&](const RunInfo& run) {
                               starts.add("runs");
                               gate.pass();
                               was_asked = run.must_end.stop_requested();
                             },
                         .retry_delay = 1min,
                         .time_limit = Duration::max()}});
  starts.wait_for(1);
  clock->set(Instant::max());
  errors.wait_for(1);
  gate.open();
  scheduler.stop();
  EXPECT_FALSE(was_asked);
}

// K5: a retry after the end of time never happens; an earlier one is exact to the millisecond.
TEST_F(ClockRange, retries_nothing_early_in_the_last_minute) {
  clock->set(last_minute + 10s);
  Scheduler scheduler{options()};
  scheduler.initialize({task("59 23 31 12 *", 1h)});
  starts.wait_for(1);
  clock->set(last_minute + 59s + 998ms);
  clock->set(year_10000);
  errors.wait_for(1);
  scheduler.stop();
  EXPECT_EQ(starts.size(), 1U);
}

TEST(VirtualClockRange, retries_at_once_in_the_last_minute) {
  VirtualScheduler scheduler{last_minute, {.zone = Zone::utc()}};
  std::vector<Instant> starts;
  const auto fail_twice = [&](const RunInfo& run) {
    starts.push_back(run.started);
    if (starts.size() < 3) throw std::runtime_error("not yet");
  };
  scheduler.initialize({{"a", "59 23 31 12 *", fail_twice, 0ms}});
  EXPECT_EQ(starts, (std::vector<Instant>{last_minute, last_minute, last_minute}));
}

TEST(VirtualClockRange, retries_nothing_early_in_the_last_minute) {
  VirtualScheduler scheduler{last_minute, {.zone = Zone::utc()}};
  int starts = 0;
  const auto fail = [&] {
    ++starts;
    throw std::runtime_error("not yet");
  };
  scheduler.initialize({{"a", "59 23 31 12 *", fail, 1h}, {"b", "59 23 31 12 *", fail, 30s}});
  EXPECT_EQ(starts, 2);
  scheduler.advance(30s);
  EXPECT_EQ(starts, 3);
  scheduler.advance(29s);
  EXPECT_EQ(starts, 3);
}

TEST(VirtualClockRange, does_not_advance_past_the_end_of_time) {
  VirtualScheduler scheduler{last_minute, {.zone = Zone::utc()}};
  int runs = 0;
  scheduler.initialize({{"a", "* * * * *", [&] { ++runs; }, 1h}});
  for (const Duration duration : {Duration{1min}, Duration{days{800'000}}, Duration::max()}) {
    EXPECT_THROW(scheduler.advance(duration), ClockError);
  }
  for (const Duration duration : {Duration{-days{10'000 * 366}}, Duration::min()}) {
    EXPECT_THROW(scheduler.advance(duration), ClockError);
  }
  EXPECT_EQ(scheduler.now(), last_minute);
  EXPECT_EQ(runs, 1);
  scheduler.advance(59s + 998ms);
  scheduler.stop();
}

TEST(VirtualClockRange, does_not_begin_outside_of_time) {
  for (const Instant outside : {year_10000, Instant::max(), Instant::min()}) {
    EXPECT_THROW((VirtualScheduler{outside, {.zone = Zone::utc()}}), ClockError);
  }
}

}  // namespace
}  // namespace dutiful
