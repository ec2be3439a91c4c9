// What the engine reports about starts: the pulses they serve, and why they are late or missing.

#include <gmock/gmock.h>

#include "engine/engine_in_test.h"

namespace dutiful {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

// T6, V: one start serves all missed pulses, and every pulse is counted.
TEST_F(EngineTest, says_how_many_pulses_a_start_serves) {
  initialize("0 * * * *");
  auto starts = engine->step(now).starts;
  end(starts[0], Outcome::success, now);
  starts = engine->step(now + 5h).starts;
  ASSERT_EQ(starts.size(), 1);
  EXPECT_THAT(reported("TaskRunStarted").back(),
              testing::AllOf(HasSubstr("\"scheduledTime\":\"2025-03-03T11:00:00.000Z\""),
                             HasSubstr("\"missedCount\":4")));
  EXPECT_EQ(reported("SchedulingDelayed").size(), 1);
}

// V: however long the downtime was.
TEST_F(EngineTest, counts_every_pulse_of_several_years) {
  initialize("* * * * *");
  auto starts = engine->step(now).starts;
  end(starts[0], Outcome::success, now);
  constexpr std::int64_t minutes = std::int64_t{365 + 365 + 366} * 24 * 60;
  ASSERT_EQ(engine->step(at("2028-03-03T10:00:30Z")).starts.size(), 1);
  EXPECT_THAT(reported("TaskRunStarted").back(),
              HasSubstr("\"missedCount\":" + std::to_string(minutes - 1) + ","));
}

// V: scheduledTime is that of the retry, so all three pulses after it are missed.
TEST_F(EngineTest, counts_every_pulse_that_a_retry_serves) {
  initialize("0 * * * *", 5min);
  auto starts = engine->step(now).starts;
  end(starts[0], Outcome::failure, now, "no");
  engine->record_ends(now);
  starts = engine->step(at("2025-03-03T13:00:30Z")).starts;
  ASSERT_EQ(starts.size(), 1);
  EXPECT_EQ(starts[0].reason, Reason::retry);
  EXPECT_THAT(
      reported("TaskRunStarted").back(),
      testing::AllOf(HasSubstr("\"scheduledTime\":\"2025-03-03T10:05:30.000Z\""),
                     HasSubstr("\"missedCount\":3,\"pulses\":{\"asleep\":2,\"retry\":1}}")));
}

// V, K6: the retry is due at the same instant as a pulse, so scheduledTime names that pulse.
TEST_F(EngineTest, does_not_count_a_pulse_that_the_retry_instant_names) {
  initialize("0 * * * *", 59min + 30s);
  auto starts = engine->step(now).starts;
  end(starts[0], Outcome::failure, now, "no");
  engine->record_ends(now);
  starts = engine->step(at("2025-03-03T13:00:30Z")).starts;
  ASSERT_EQ(starts.size(), 1);
  EXPECT_EQ(starts[0].reason, Reason::retry);
  EXPECT_THAT(
      reported("TaskRunStarted").back(),
      testing::AllOf(HasSubstr("\"scheduledTime\":\"2025-03-03T11:00:00.000Z\""),
                     HasSubstr("\"missedCount\":2,\"pulses\":{\"asleep\":2,\"retry\":1}}")));
}

// V: scheduledTime is the pulse of the interrupted run, which has already served it.
TEST_F(EngineTest, counts_every_pulse_that_an_interrupted_run_serves) {
  initialize("0 * * * *");
  ASSERT_EQ(engine->step(now).starts.size(), 1U);
  engine.reset();
  engine = make();
  now = at("2025-03-03T13:00:30Z");
  initialize("0 * * * *");
  const auto starts = engine->step(now).starts;
  ASSERT_EQ(starts.size(), 1U);
  EXPECT_EQ(starts[0].reason, Reason::orphan);
  EXPECT_THAT(reported("TaskRunStarted").back(),
              testing::AllOf(HasSubstr("\"scheduledTime\":\"2025-03-03T10:00:00.000Z\""),
                             HasSubstr("\"missedCount\":3,\"pulses\":{\"down\":2,\"orphan\":1}}")));
}

// V: scheduledTime is the minute in which the task was added, which is not a pulse it is owed (K4).
TEST_F(EngineTest, counts_every_pulse_that_a_boot_serves) {
  initialize("0 * * * *");
  const auto starts = engine->step(at("2025-03-03T12:00:30Z")).starts;
  ASSERT_EQ(starts.size(), 1U);
  EXPECT_EQ(starts[0].reason, Reason::boot);
  EXPECT_THAT(reported("TaskRunStarted").back(),
              testing::AllOf(HasSubstr("\"scheduledTime\":\"2025-03-03T10:00:00.000Z\""),
                             HasSubstr("\"missedCount\":2,\"pulses\":{\"run\":1,\"asleep\":2}}")));
}

// V: on time, nothing is missed, whatever the reason.
TEST_F(EngineTest, counts_nothing_if_nothing_was_missed) {
  initialize("0 * * * *", 5min);
  auto starts = engine->step(now).starts;  // boot
  end(starts[0], Outcome::failure, now, "no");
  engine->record_ends(now);
  starts = engine->step(now + 5min).starts;  // retry
  ASSERT_EQ(starts.size(), 1);
  engine.reset();
  engine = make();
  now += 6min;
  initialize("0 * * * *", 5min);
  starts = engine->step(now).starts;  // orphan
  ASSERT_EQ(starts.size(), 1);
  end(starts[0], Outcome::success, now);
  ASSERT_EQ(engine->step(at("2025-03-03T11:00:00Z")).starts.size(), 1);  // cron
  EXPECT_EQ(reported("TaskRunStarted").size(), 4);
  EXPECT_THAT(reported("TaskRunStarted"), testing::Each(testing::Not(HasSubstr("missedCount"))));
}

// V, T7: the clock is set back while the task runs. The next start also serves the pulses from
// before the correction. After that, a start at an earlier time has missed nothing.
TEST_F(EngineTest, counts_the_pulses_from_before_a_clock_correction) {
  initialize("0 * * * *", 0s);
  auto starts = engine->step(now).starts;
  EXPECT_TRUE(engine->step(at("2025-03-03T13:00:30Z")).starts.empty());
  end(starts[0], Outcome::success, at("2025-03-03T12:30:00Z"));
  starts = engine->step(at("2025-03-03T12:30:00Z")).starts;
  ASSERT_EQ(starts.size(), 1);
  EXPECT_THAT(
      reported("TaskRunStarted").back(),
      testing::AllOf(
          HasSubstr("\"scheduledTime\":\"2025-03-03T11:00:00.000Z\""),
          HasSubstr("\"missedCount\":2,\"pulses\":{\"run\":1,\"running\":1,\"asleep\":1}}")));
  EXPECT_EQ(stored().served_until, at("2025-03-03T13:00:30Z"));

  end(starts[0], Outcome::failure, at("2025-03-03T12:00:00Z"), "no");
  starts = engine->step(at("2025-03-03T12:00:00Z")).starts;
  ASSERT_EQ(starts.size(), 1);
  EXPECT_EQ(starts[0].reason, Reason::retry);
  EXPECT_THAT(reported("TaskRunStarted").back(), testing::Not(HasSubstr("missedCount")));
}

// V: scheduledTime is when the interrupted run was due. Its delay counts from when that run
// started.
TEST_F(EngineTest, says_when_an_interrupted_run_was_due) {
  initialize("0 * * * *");
  ASSERT_EQ(engine->step(now).starts.size(), 1U);  // at 10:00:30
  engine.reset();
  engine = make();
  now += 2min;
  initialize("0 * * * *");
  const auto starts = engine->step(now).starts;
  ASSERT_EQ(starts.size(), 1U);
  EXPECT_EQ(starts[0].reason, Reason::orphan);
  EXPECT_THAT(reported("TaskRunStarted").back(),
              HasSubstr("\"scheduledTime\":\"2025-03-03T10:00:00.000Z\""));
  EXPECT_THAT(reported("SchedulingDelayed"),
              ElementsAre(testing::AllOf(HasSubstr("\"dueTime\":\"2025-03-03T10:00:30.000Z\""),
                                         HasSubstr("\"delay\":120000"))));
}

// K6, V
TEST_F(EngineTest, says_that_a_pulse_pre_empts_a_retry) {
  initialize("0 * * * *", 2h);
  auto starts = engine->step(now).starts;
  end(starts[0], Outcome::failure, now, "no");
  starts = engine->step(at("2025-03-03T11:00:00Z")).starts;
  ASSERT_EQ(starts.size(), 1);
  EXPECT_EQ(starts[0].reason, Reason::cron);
  EXPECT_EQ(reported("TaskRetryPreempted").size(), 1);
  EXPECT_TRUE(reported("TaskRetryStarted").empty());
}

// T3, T4, V: the events show what DST did, so that a user does not have to guess.
TEST_F(EngineTest, says_what_dst_did) {
  engine = make("America/New_York");
  now = at("2025-03-08T12:00:00-05:00");
  initialize("30 2 * * *");
  EXPECT_TRUE(engine->step(at("2025-03-09T12:00:00-04:00")).starts.empty());
  EXPECT_THAT(reported("DueSkipped"),
              ElementsAre(HasSubstr("\"scheduledTime\":\"2025-03-09T02:30\",\"reason\":\"gap\"")));

  engine = make("America/New_York");
  now = at("2025-11-02T00:00:00-04:00");
  state->rows.clear();
  initialize("30 1 * * *");
  auto starts = engine->step(at("2025-11-02T01:30:00-04:00")).starts;
  EXPECT_THAT(reported("TaskRunStarted").back(), testing::Not(HasSubstr("isRepeatedMinute")));
  end(starts[0], Outcome::success, at("2025-11-02T01:31:00-04:00"));
  (void)engine->step(at("2025-11-02T01:30:00-05:00"));
  EXPECT_THAT(reported("TaskRunStarted").back(), HasSubstr("\"isRepeatedMinute\":true"));
}

// C5
TEST_F(EngineTest, warns_about_a_task_that_is_never_due) {
  initialize("0 0 30 2 *");
  EXPECT_EQ(reported("TaskNeverDue").size(), 1);
  EXPECT_EQ(engine->next_wake(), Instant::max());
}

}  // namespace
}  // namespace dutiful
