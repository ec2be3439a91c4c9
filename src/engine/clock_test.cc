// T7: what the engine does when the clock is set.

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
  EXPECT_TRUE(engine->step(now).empty());
  EXPECT_EQ(engine->step(now - 2h).size(), 1);
}

// T7: a retry that waits for a free place is not due any more when the clock is set back.
TEST_F(EngineTest, takes_a_waiting_retry_back_with_the_clock) {
  policies.max_concurrent = 1;
  engine = make();
  engine->initialize({{.name = "a", .cron = "0 10 * * *", .retry_delay = 5s},
                      {.name = "b", .cron = "1 10 * * *", .retry_delay = 5s}},
                     now);
  auto starts = engine->step(now);
  engine->end(starts[0].task, Outcome::failure, at("2025-03-03T10:00:58Z"), "no");
  engine->settle(at("2025-03-03T10:00:58Z"));
  starts = engine->step(at("2025-03-03T10:01:00Z"));
  ASSERT_EQ(starts.size(), 1);  // b takes the place
  EXPECT_TRUE(engine->step(at("2025-03-03T10:01:04Z")).empty());
  engine->end(starts[0].task, Outcome::success, at("2025-03-03T10:01:00Z"));
  EXPECT_TRUE(engine->step(at("2025-03-03T10:01:00Z")).empty());
  starts = engine->step(at("2025-03-03T10:01:03Z"));
  ASSERT_EQ(starts.size(), 1);
  EXPECT_EQ(starts[0].reason, Reason::retry);
}

// T7: many small steps back are a large one.
TEST_F(EngineTest, adds_up_steps_of_the_clock) {
  initialize("0 * * * *");
  auto starts = engine->step(now);
  engine->end(starts[0].task, Outcome::success, now);
  EXPECT_TRUE(engine->step(now - 2h).empty());
  EXPECT_TRUE(engine->step(now - 4h).empty());
  EXPECT_EQ(engine->next_wake(), at("2025-03-03T07:00:00Z"));
}

// T7: the persisted start lies in the future, because the clock has been set back.
TEST_F(EngineTest, counts_pulses_again_after_a_large_correction_of_the_clock) {
  initialize("0 * * * *");
  auto starts = engine->step(now);
  engine->end(starts[0].task, Outcome::success, now);
  engine->stop(now);
  engine->settle(now);
  now -= 24h;
  initialize("0 * * * *");
  EXPECT_EQ(told("ClockCorrected").size(), 1);
  EXPECT_EQ(engine->next_wake(), at("2025-03-02T11:00:00Z"));
  EXPECT_EQ(engine->step(at("2025-03-02T11:00:00Z")).size(), 1);
}

TEST_F(EngineTest, does_not_serve_a_pulse_twice_after_a_small_one) {
  initialize("0,30 * * * *");
  auto starts = engine->step(at("2025-03-03T10:30:00Z"));
  engine->end(starts[0].task, Outcome::success, at("2025-03-03T10:30:01Z"));
  EXPECT_TRUE(engine->step(at("2025-03-03T10:29:00Z")).empty());
  EXPECT_TRUE(engine->step(at("2025-03-03T10:30:00Z")).empty());
  EXPECT_EQ(engine->step(at("2025-03-03T11:00:00Z")).size(), 1);
}

// The same while it runs: the clock goes back by a day. V: it is told; P1: it is durable.
TEST_F(EngineTest, goes_by_the_corrected_clock_while_it_runs) {
  initialize("0 * * * *");
  auto starts = engine->step(now);
  engine->end(starts[0].task, Outcome::success, now);
  engine->settle(now);
  EXPECT_TRUE(engine->step(now - 24h).empty());
  EXPECT_EQ(engine->next_wake(), at("2025-03-02T11:00:00Z"));
  EXPECT_THAT(told("ClockCorrected"),
              ElementsAre(testing::AllOf(
                  HasSubstr("\"level\":\"WARNING\""),
                  HasSubstr("\"taskName\":\"a\",\"persistedTime\":\"2025-03-03T10:00:30.000Z\""))));
  EXPECT_EQ(stored().served_until, now - 24h);
  EXPECT_EQ(stored().last_attempt, now);  // history is what it was
}

// T7, X3: the store fails while the clock is corrected.
TEST_F(EngineTest, keeps_the_correction_of_the_clock_when_a_commit_fails) {
  initialize("0 * * * *");
  auto starts = engine->step(now);
  engine->end(starts[0].task, Outcome::success, now);
  engine->settle(now);
  faults.commit = 2;
  const Instant corrected = at("2025-03-02T10:59:59.950Z");
  EXPECT_TRUE(engine->step(corrected).empty());
  EXPECT_TRUE(told("ClockCorrected").empty());  // H5: observed when it is recorded
  EXPECT_EQ(stored().served_until, now);
  EXPECT_EQ(engine->next_wake(), corrected + 100ms);

  // A start that is decided and undone meanwhile does not take it away.
  EXPECT_TRUE(engine->step(corrected + 100ms).empty());
  EXPECT_TRUE(told("ClockCorrected").empty());
  EXPECT_EQ(engine->step(engine->next_wake()).size(), 1);
  EXPECT_EQ(told("ClockCorrected").size(), 1);
  EXPECT_EQ(stored().served_until, corrected + 300ms);
}

TEST_F(EngineTest, tells_a_correction_of_the_clock_before_the_run_that_follows) {
  initialize("0 * * * *");
  auto starts = engine->step(now);
  engine->end(starts[0].task, Outcome::failure, now, "no");
  engine->settle(now);
  EXPECT_TRUE(engine->step(at("2025-03-02T10:59:00Z")).empty());
  ASSERT_EQ(engine->step(at("2025-03-02T11:00:00Z")).size(), 1);
  const auto place = [&](const char* name) {
    return std::ranges::find(events, told(name).back()) - events.begin();
  };
  EXPECT_LT(place("ClockCorrected"), place("TaskRunStarted"));
}

// A task that has never run was served until it came: that is the time that lay ahead.
TEST_F(EngineTest, names_the_time_that_was_ahead_of_the_clock) {
  initialize("30 * * * *");
  engine->stop(now);
  now -= 24h;
  initialize("30 * * * *");
  EXPECT_THAT(told("ClockCorrected"),
              ElementsAre(HasSubstr("\"persistedTime\":\"2025-03-03T10:00:30.000Z\"")));
}

}  // namespace
}  // namespace dutiful
