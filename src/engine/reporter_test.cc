// What the engine tells of starts: what they serve, and why they are late or missing.

#include <gmock/gmock.h>

#include "engine/engine_in_test.h"

namespace dutiful {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

// T6, V: one start for all that was missed, and every pulse accounted for.
TEST_F(EngineTest, says_how_many_pulses_a_start_serves) {
  initialize("0 * * * *");
  auto starts = engine->step(now);
  engine->end(starts[0].task, Outcome::success, now);
  starts = engine->step(now + 5h);
  ASSERT_EQ(starts.size(), 1);
  EXPECT_THAT(told("TaskRunStarted").back(),
              testing::AllOf(HasSubstr("\"scheduledTime\":\"2025-03-03T11:00:00.000Z\""),
                             HasSubstr("\"missedCount\":4")));
  EXPECT_EQ(told("SchedulingDelayed").size(), 1);
}

// V: when it was due, and not when the run began that was interrupted. That counts for its delay.
TEST_F(EngineTest, says_when_an_interrupted_run_was_due) {
  initialize("0 * * * *");
  ASSERT_EQ(engine->step(now).size(), 1U);  // at 10:00:30
  engine.reset();
  engine = make();
  now += 2min;
  initialize("0 * * * *");
  const auto starts = engine->step(now);
  ASSERT_EQ(starts.size(), 1U);
  EXPECT_EQ(starts[0].reason, Reason::orphan);
  EXPECT_THAT(told("TaskRunStarted").back(),
              HasSubstr("\"scheduledTime\":\"2025-03-03T10:00:00.000Z\""));
  EXPECT_THAT(told("SchedulingDelayed"),
              ElementsAre(testing::AllOf(HasSubstr("\"dueTime\":\"2025-03-03T10:00:30.000Z\""),
                                         HasSubstr("\"delay\":120000"))));
}

// K6, V
TEST_F(EngineTest, says_that_a_pulse_pre_empts_a_retry) {
  initialize("0 * * * *", 2h);
  auto starts = engine->step(now);
  engine->end(starts[0].task, Outcome::failure, now, "no");
  starts = engine->step(at("2025-03-03T11:00:00Z"));
  ASSERT_EQ(starts.size(), 1);
  EXPECT_EQ(starts[0].reason, Reason::cron);
  EXPECT_EQ(told("TaskRetryPreempted").size(), 1);
  EXPECT_TRUE(told("TaskRetryStarted").empty());
}

// T3, T4, V: nobody should have to guess what DST did.
TEST_F(EngineTest, says_what_dst_did) {
  engine = make("America/New_York");
  now = at("2025-03-08T12:00:00-05:00");
  initialize("30 2 * * *");
  EXPECT_TRUE(engine->step(at("2025-03-09T12:00:00-04:00")).empty());
  EXPECT_THAT(told("DueSkipped"),
              ElementsAre(HasSubstr("\"scheduledTime\":\"2025-03-09T02:30\",\"reason\":\"gap\"")));

  engine = make("America/New_York");
  now = at("2025-11-02T00:00:00-04:00");
  state->rows.clear();
  initialize("30 1 * * *");
  auto starts = engine->step(at("2025-11-02T01:30:00-04:00"));
  EXPECT_THAT(told("TaskRunStarted").back(), testing::Not(HasSubstr("isRepeatedMinute")));
  engine->end(starts[0].task, Outcome::success, at("2025-11-02T01:31:00-04:00"));
  (void)engine->step(at("2025-11-02T01:30:00-05:00"));
  EXPECT_THAT(told("TaskRunStarted").back(), HasSubstr("\"isRepeatedMinute\":true"));
}

// C5
TEST_F(EngineTest, warns_of_a_task_that_is_never_due) {
  initialize("0 0 30 2 *");
  EXPECT_EQ(told("TaskNeverDue").size(), 1);
  EXPECT_EQ(engine->next_wake(), Instant::max());
}

}  // namespace
}  // namespace dutiful
