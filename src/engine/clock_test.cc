// T7: the engine when the clock is set.

#include <gmock/gmock.h>

#include "engine/engine_in_test.h"

namespace dutiful {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

// T7, X3: the clock is set back while a failed transaction waits for its next try.
TEST_F(EngineTest, does_not_wait_for_a_time_that_the_clock_has_left_behind) {
  initialize("0 * * * *");
  faults.commit = 1;
  EXPECT_TRUE(engine->step(now).starts.empty());
  EXPECT_EQ(engine->step(now - 2h).starts.size(), 1);
}

// T7: a retry that waits for a free place is no longer due when the clock is set back.
TEST_F(EngineTest, withdraws_a_waiting_retry_when_the_clock_is_set_back) {
  policies.max_concurrent = 1;
  engine = make();
  engine->initialize({{.name = "a", .cron = "0 10 * * *", .retry_delay = 5s},
                      {.name = "b", .cron = "1 10 * * *", .retry_delay = 5s}},
                     now);
  auto starts = engine->step(now).starts;
  end(starts[0], Outcome::failure, at("2025-03-03T10:00:58Z"), "no");
  engine->record_ends(at("2025-03-03T10:00:58Z"));
  starts = engine->step(at("2025-03-03T10:01:00Z")).starts;
  ASSERT_EQ(starts.size(), 1);  // b takes the place
  EXPECT_TRUE(engine->step(at("2025-03-03T10:01:04Z")).starts.empty());
  end(starts[0], Outcome::success, at("2025-03-03T10:01:00Z"));
  EXPECT_TRUE(engine->step(at("2025-03-03T10:01:00Z")).starts.empty());
  starts = engine->step(at("2025-03-03T10:01:03Z")).starts;
  ASSERT_EQ(starts.size(), 1);
  EXPECT_EQ(starts[0].reason, Reason::retry);
}

// T7: many small steps back add up to a large one.
TEST_F(EngineTest, adds_up_steps_of_the_clock) {
  initialize("0 * * * *");
  auto starts = engine->step(now).starts;
  end(starts[0], Outcome::success, now);
  EXPECT_TRUE(engine->step(now - 2h).starts.empty());
  EXPECT_TRUE(engine->step(now - 4h).starts.empty());
  EXPECT_EQ(engine->next_wake(), at("2025-03-03T07:00:00Z"));
}

// T7: the persisted start lies in the future, because the clock has been set back.
TEST_F(EngineTest, counts_pulses_again_after_a_large_correction_of_the_clock) {
  initialize("0 * * * *");
  auto starts = engine->step(now).starts;
  end(starts[0], Outcome::success, now);
  engine->stop(now);
  engine->record_ends(now);
  now -= 24h;
  initialize("0 * * * *");
  EXPECT_EQ(reported("ClockCorrected").size(), 1);
  EXPECT_EQ(engine->next_wake(), at("2025-03-02T11:00:00Z"));
  EXPECT_EQ(engine->step(at("2025-03-02T11:00:00Z")).starts.size(), 1);
}

TEST_F(EngineTest, does_not_serve_a_pulse_twice_after_a_small_one) {
  initialize("0,30 * * * *");
  auto starts = engine->step(at("2025-03-03T10:30:00Z")).starts;
  end(starts[0], Outcome::success, at("2025-03-03T10:30:01Z"));
  EXPECT_TRUE(engine->step(at("2025-03-03T10:29:00Z")).starts.empty());
  EXPECT_TRUE(engine->step(at("2025-03-03T10:30:00Z")).starts.empty());
  EXPECT_EQ(engine->step(at("2025-03-03T11:00:00Z")).starts.size(), 1);
}

// The same while it runs: the clock is set back by a day. V: it is reported; P1: it is durable.
TEST_F(EngineTest, follows_a_corrected_clock_while_it_runs) {
  initialize("0 * * * *");
  auto starts = engine->step(now).starts;
  end(starts[0], Outcome::success, now);
  engine->record_ends(now);
  EXPECT_TRUE(engine->step(now - 24h).starts.empty());
  EXPECT_EQ(engine->next_wake(), at("2025-03-02T11:00:00Z"));
  EXPECT_THAT(reported("ClockCorrected"),
              ElementsAre(testing::AllOf(
                  HasSubstr("\"level\":\"WARNING\""),
                  HasSubstr("\"taskName\":\"a\",\"persistedTime\":\"2025-03-03T10:00:30.000Z\""))));
  EXPECT_EQ(stored().served_until, now - 24h);
  EXPECT_EQ(stored().last_attempt, now);  // the history is unchanged
}

// T7: a pulse of the wrong clock that did not start, because of the bound, comes again by the right
// clock.
TEST_F(EngineTest, does_not_owe_a_pulse_that_the_corrected_clock_has_not_reached) {
  policies.max_concurrent = 1;
  engine = make();
  engine->initialize({{.name = "a", .cron = "0 22 * * *", .retry_delay = 1min},
                      {.name = "b", .cron = "0 22 * * *", .retry_delay = 1min}},
                     now);
  auto starts = engine->step(at("2025-03-03T22:00:00Z")).starts;
  ASSERT_EQ(starts.size(), 1);
  const Instant corrected = at("2025-03-03T15:00:00Z");
  EXPECT_TRUE(engine->step(corrected).starts.empty());
  end(starts[0], Outcome::success, corrected);
  EXPECT_TRUE(engine->step(corrected).starts.empty());
  EXPECT_EQ(engine->next_wake(), at("2025-03-03T22:00:00Z"));

  for (int run = 0; run < 2; ++run) {
    starts = engine->step(at("2025-03-03T22:00:00Z")).starts;
    ASSERT_EQ(starts.size(), 1);
    EXPECT_EQ(starts[0].scheduled, at("2025-03-03T22:00:00Z"));
    end(starts[0], Outcome::success, at("2025-03-03T22:00:01Z"));
  }
  EXPECT_TRUE(engine->step(at("2025-03-03T22:00:02Z")).starts.empty());
}

// T7, X3: the store fails while the clock is corrected.
TEST_F(EngineTest, keeps_the_correction_of_the_clock_when_a_commit_fails) {
  initialize("0 * * * *");
  auto starts = engine->step(now).starts;
  end(starts[0], Outcome::success, now);
  engine->record_ends(now);
  faults.commit = 2;
  const Instant corrected = at("2025-03-02T10:59:59.950Z");
  EXPECT_TRUE(engine->step(corrected).starts.empty());
  EXPECT_TRUE(reported("ClockCorrected").empty());  // H5: observed when it is recorded
  EXPECT_EQ(stored().served_until, now);
  EXPECT_EQ(engine->next_wake(), corrected + 100ms);

  // A start that is decided and undone meanwhile does not remove it.
  EXPECT_TRUE(engine->step(corrected + 100ms).starts.empty());
  EXPECT_TRUE(reported("ClockCorrected").empty());
  EXPECT_EQ(engine->step(engine->next_wake()).starts.size(), 1);
  EXPECT_EQ(reported("ClockCorrected").size(), 1);
  EXPECT_EQ(stored().served_until, corrected + 300ms);
}

TEST_F(EngineTest, reports_a_clock_correction_before_the_run_that_follows) {
  initialize("0 * * * *");
  auto starts = engine->step(now).starts;
  end(starts[0], Outcome::failure, now, "no");
  engine->record_ends(now);
  EXPECT_TRUE(engine->step(at("2025-03-02T10:59:00Z")).starts.empty());
  ASSERT_EQ(engine->step(at("2025-03-02T11:00:00Z")).starts.size(), 1);
  const auto place = [&](const char* name) {
    return std::ranges::find(events, reported(name).back()) - events.begin();
  };
  EXPECT_LT(place("ClockCorrected"), place("TaskRunStarted"));
}

// A task that has never run is served until it was registered, and that time lay ahead.
TEST_F(EngineTest, names_the_time_that_was_ahead_of_the_clock) {
  initialize("30 * * * *");
  engine->stop(now);
  now -= 24h;
  initialize("30 * * * *");
  EXPECT_THAT(reported("ClockCorrected"),
              ElementsAre(HasSubstr("\"persistedTime\":\"2025-03-03T10:00:30.000Z\"")));
}

const Instant outside[] = {std::chrono::sys_days{std::chrono::year{10000} / 1 / 1},
                           std::chrono::sys_days{std::chrono::year{12000} / 1 / 1},
                           Instant::max(),
                           std::chrono::sys_days{std::chrono::year{0} / 12 / 31},
                           Instant::min()};

// I2: the error names the clock's time.
TEST_F(EngineTest, refuses_a_clock_outside_the_years_1_to_9999) {
  for (const Instant clock : outside) {
    const std::string value = std::to_string(clock.time_since_epoch().count());
    events.clear();
    now = clock;
    try {
      initialize("* * * * *");
      FAIL();
    } catch (const ClockError& error) {
      EXPECT_EQ(error.what(),
                "The clock shows " + value +
                    " ms since 1970-01-01, which is outside the years 1 to 9999; set the clock");
      EXPECT_EQ(error.current_time(), clock);
    }
    EXPECT_THAT(events,
                ElementsAre(HasSubstr("SchedulerInitializationStarted"),
                            testing::AllOf(HasSubstr("SchedulerInitializationFailed"),
                                           HasSubstr("The clock shows " + value))));
    EXPECT_TRUE(state->rows.empty());
    EXPECT_EQ(engine->lifecycle(), Lifecycle::uninitialized);
  }
  now = at("2025-03-03T10:00:30Z");
  initialize("* * * * *");
  EXPECT_EQ(engine->step(now).starts.size(), 1);
}

// I2: the clock leaves the range while Options::prepare runs.
TEST_F(EngineTest, refuses_a_clock_that_leaves_its_range_in_the_preparation) {
  Engine prepared{Calendar{Zone::utc()},
                  policies,
                  [this] { return std::make_unique<FaultyStore>(state, faults); },
                  *this,
                  {},
                  [] { return Instant::max(); }};
  EXPECT_THROW(prepared.initialize({{.name = "a", .cron = "* * * * *", .retry_delay = 1min}}, now),
               ClockError);
  EXPECT_TRUE(state->rows.empty());
}

// T7, X3: ends are recorded with the last instant that the clock showed in its range.
TEST_F(EngineTest, starts_nothing_while_the_clock_is_outside_its_range) {
  for (const Instant clock : outside) {
    SCOPED_TRACE(clock.time_since_epoch().count());
    events.clear();
    initialize("* * * * *", 0ms);
    auto starts = engine->step(engine->follow(now)).starts;
    ASSERT_EQ(starts.size(), 1);

    for (int steps = 0; steps < 3; ++steps) {
      EXPECT_EQ(engine->follow(clock), now);
      if (steps == 1) end(starts[0], Outcome::failure, now, "no");
      EXPECT_TRUE(engine->step(now).starts.empty());
    }
    EXPECT_EQ(engine->next_wake(), clock < now ? at("0001-01-01T00:00:00Z") : Instant::max());
    EXPECT_EQ(stored().last_failure, now);
    EXPECT_EQ(stored().retry_at, now);
    EXPECT_THAT(reported("ClockOutOfRange"),
                ElementsAre(testing::AllOf(HasSubstr("\"level\":\"ERROR\""),
                                           HasSubstr("outside the years 1 to 9999"))));

    now += 10s;
    starts = engine->step(engine->follow(now)).starts;
    ASSERT_EQ(starts.size(), 1);
    EXPECT_EQ(starts[0].reason, Reason::retry);
    EXPECT_TRUE(reported("ClockCorrected").empty());
    end(starts[0], Outcome::success, now);

    // One event each time.
    EXPECT_EQ(engine->follow(clock), now);
    EXPECT_EQ(reported("ClockOutOfRange").size(), 2);
    engine->stop(now);
    engine->record_ends(now);
    EXPECT_EQ(engine->lifecycle(), Lifecycle::uninitialized);
    now += 1min;  // in which it is due again
  }
}

// I5: while time stands still, no later try comes.
TEST_F(EngineTest, gives_up_on_a_store_at_once_while_the_clock_is_outside_its_range) {
  initialize("* * * * *");
  const auto starts = engine->step(engine->follow(now)).starts;
  faults.commit = 1;
  now = engine->follow(Instant::max());
  end(starts[0], Outcome::success, now);
  engine->stop(now);
  EXPECT_TRUE(engine->step(now).starts.empty());
  EXPECT_EQ(engine->lifecycle(), Lifecycle::uninitialized);
  EXPECT_TRUE(engine->stop_error());
}

}  // namespace
}  // namespace dutiful
