// What becomes of every pulse, as the engine records it with the starts.

#include <gmock/gmock.h>

#include "engine/engine_in_test.h"

namespace dutiful {
namespace {

using namespace std::chrono_literals;

struct AccountTest : EngineTest {
  [[nodiscard]] const Account& account() const { return state->rows.front().account; }
  void restart_at(Instant instant) {
    engine.reset();
    engine = make();
    now = instant;
  }
  Start start_at(Instant instant) {
    auto starts = engine->step(instant).starts;
    if (starts.size() != 1) throw std::logic_error("not one start");
    return std::move(starts.front());
  }
  void succeed(const Start& start, Instant instant) {
    end(start, Outcome::success, instant);
    engine->record_ends(instant);
  }
};

TEST_F(AccountTest, begins_with_the_minute_of_the_first_registration) {
  initialize("* * * * *");  // at 10:00:30
  EXPECT_EQ(account().from, at("2025-03-03T10:00:00Z"));
  (void)start_at(now);
  EXPECT_EQ(account().fates, PulseFates{.run = 1});
}

TEST_F(AccountTest, counts_pulses_that_come_while_the_task_runs) {
  initialize("* * * * *");
  const Start first = start_at(now);
  EXPECT_TRUE(engine->step(at("2025-03-03T10:01:00Z")).starts.empty());
  EXPECT_TRUE(engine->step(at("2025-03-03T10:02:00Z")).starts.empty());
  end(first, Outcome::success, at("2025-03-03T10:03:10Z"));
  (void)start_at(at("2025-03-03T10:03:10Z"));  // for 10:01
  EXPECT_EQ(account().fates, (PulseFates{.run = 2, .running = 2}));
}

// H5: a run that was interrupted ran at least until the scheduler last recorded something.
TEST_F(AccountTest, tells_the_time_a_dead_scheduler_ran_from_the_time_it_was_down) {
  const std::vector<TaskConfig> list{{.name = "a", .cron = "* * * * *"},
                                     {.name = "b", .cron = "3 * * * *"}};
  engine->initialize(list, now);
  (void)start_at(now);
  ASSERT_EQ(engine->step(at("2025-03-03T10:03:00Z")).starts.size(), 1U);  // b: a sign of life
  restart_at(at("2025-03-03T10:06:30Z"));
  engine->initialize(list, now);
  ASSERT_EQ(engine->step(now).starts.size(), 2U);  // orphans
  // 10:01 is taken by the orphan start, 10:02 and 10:03 came during the run.
  EXPECT_EQ(account().fates, (PulseFates{.run = 1, .running = 2, .down = 3, .orphan = 1}));
}

// X3
TEST_F(AccountTest, counts_pulses_that_come_while_the_store_fails) {
  initialize("* * * * *");
  succeed(start_at(now), now);
  faults.commit = 1;
  EXPECT_TRUE(engine->step(at("2025-03-03T10:01:00Z")).starts.empty());
  (void)start_at(at("2025-03-03T10:04:00Z"));
  EXPECT_EQ(account().fates, (PulseFates{.run = 2, .store = 3}));
}

// X1
TEST_F(AccountTest, counts_pulses_that_wait_for_the_limit) {
  policies.max_concurrent = 1;
  engine = make();
  engine->initialize({{.name = "a", .cron = "* * * * *"}, {.name = "b", .cron = "0 * * * *"}},
                     at("2025-03-03T10:00:30Z"));
  succeed(start_at(now), now);    // a
  const Start b = start_at(now);  // takes the only place
  EXPECT_TRUE(engine->step(at("2025-03-03T10:01:00Z")).starts.empty());
  EXPECT_TRUE(engine->step(at("2025-03-03T10:02:00Z")).starts.empty());
  end(b, Outcome::success, at("2025-03-03T10:02:30Z"));
  (void)start_at(at("2025-03-03T10:02:30Z"));
  EXPECT_EQ(account().fates, (PulseFates{.run = 2, .limit = 1}));
}

// T7: the pulses between the two clocks count twice, and the account says so.
TEST_F(AccountTest, says_how_many_pulses_recur_after_the_clock_was_set_back) {
  initialize("0 * * * *");
  succeed(start_at(now), now);
  const Start ahead = start_at(at("2025-03-03T20:00:00Z"));
  EXPECT_EQ(account().fates, (PulseFates{.run = 2, .asleep = 9}));
  end(ahead, Outcome::success, at("2025-03-03T12:00:30Z"));
  EXPECT_TRUE(engine->step(at("2025-03-03T12:00:30Z")).starts.empty());
  EXPECT_EQ(account().recurred, 8);
  (void)start_at(at("2025-03-03T13:00:00Z"));
  const std::int64_t pulses = Calendar{Zone::utc()}.count(
      CronExpression::parse("0 * * * *"), at("2025-03-03T09:59:59Z"), at("2025-03-03T13:00:00Z"));
  EXPECT_EQ(account().fates.total() - account().recurred, pulses);
}

// The same if the clock was set back while the scheduler did not run.
TEST_F(AccountTest, says_how_many_pulses_recur_after_a_restart) {
  initialize("0 * * * *");
  succeed(start_at(now), now);
  succeed(start_at(at("2025-03-03T20:00:00Z")), at("2025-03-03T20:00:00Z"));
  restart_at(at("2025-03-03T12:00:30Z"));
  initialize("0 * * * *");
  EXPECT_EQ(account().recurred, 8);
}

// T6, T7: a pulse that was served by a clock that was ahead does not hide those after it.
TEST_F(AccountTest, counts_pulses_that_come_together_with_one_that_is_served_already) {
  initialize("0 * * * *");
  succeed(start_at(now), now);
  succeed(start_at(at("2025-03-03T11:00:00Z")), at("2025-03-03T11:00:10Z"));
  restart_at(at("2025-03-03T10:59:30Z"));
  initialize("0 * * * *");
  EXPECT_TRUE(engine->step(now).starts.empty());
  const Start start = start_at(at("2025-03-03T14:30:00Z"));
  EXPECT_EQ(start.pulse, at("2025-03-03T12:00:00Z"));
  EXPECT_EQ(account().fates, (PulseFates{.run = 3, .asleep = 2}));
}

// T7: a failure by a clock that was ahead does not mean that the task still runs.
TEST_F(AccountTest, does_not_take_the_past_of_another_clock_for_its_own) {
  initialize("0 * * * *", 24h);
  succeed(start_at(now), now);
  const Start ahead = start_at(at("2025-03-03T20:00:00Z"));
  end(ahead, Outcome::failure, at("2025-03-03T20:00:00Z"), "no");
  engine->record_ends(at("2025-03-03T20:00:00Z"));
  restart_at(at("2025-03-03T12:00:30Z"));
  initialize("0 * * * *", 24h);
  const PulseFates before = account().fates;
  succeed(start_at(at("2025-03-03T13:00:00Z")), at("2025-03-03T13:00:00Z"));
  (void)start_at(at("2025-03-03T16:00:00Z"));
  EXPECT_EQ(account().fates.run, before.run + 2);
  EXPECT_EQ(account().fates.asleep, before.asleep + 2);
  EXPECT_EQ(account().fates.running, before.running);
}

// P2: with this policy a changed task is a new one.
TEST_F(AccountTest, begins_again_when_the_history_is_reset) {
  policies.override = Override::reset_history;
  engine = make();
  initialize("* * * * *");
  succeed(start_at(now), now);
  succeed(start_at(at("2025-03-04T10:00:00Z")), at("2025-03-04T10:00:00Z"));
  ASSERT_FALSE(state->rows.front().stretches.empty());
  restart_at(at("2025-03-05T10:00:30Z"));
  initialize("1 * * * *");
  EXPECT_EQ(account(), Account{.from = now});
  EXPECT_TRUE(state->rows.front().stretches.empty());
}

// H4: otherwise it keeps its past.
TEST_F(AccountTest, continues_when_a_task_is_changed) {
  initialize("* * * * *");
  succeed(start_at(now), now);
  restart_at(at("2025-03-03T10:05:30Z"));
  initialize("3 * * * *");
  (void)start_at(now);  // 10:03
  EXPECT_EQ(account().fates, PulseFates{.run = 2});
}

// K2: a new task is owed its first minute, also if it takes over a run that is then interrupted.
TEST_F(AccountTest, counts_the_first_minute_of_a_task_that_an_orphan_start_takes) {
  policies.override = Override::reset_history;
  policies.reinitialize = Reinitialize::reconcile;
  engine = make();
  initialize("* * * * *");
  (void)start_at(now);
  now = at("2025-03-03T10:05:30Z");
  initialize("5-7 * * * *");  // the run continues
  restart_at(at("2025-03-03T10:10:00Z"));
  initialize("5-7 * * * *");
  EXPECT_EQ(start_at(now).reason, Reason::orphan);
  EXPECT_EQ(account().fates, (PulseFates{.down = 2, .orphan = 1}));
}

// T7: the clock was a little behind the record, and jumps ahead. The core has not come to the
// pulses in between when a retry starts, which serves them.
TEST_F(AccountTest, counts_pulses_that_the_core_has_not_delivered) {
  now = at("2025-03-03T11:59:30Z");
  initialize("0 * * * *", 10min);
  const Start start = start_at(at("2025-03-03T12:00:00Z"));
  end(start, Outcome::failure, at("2025-03-03T11:40:00Z"), "no");
  engine->record_ends(at("2025-03-03T11:40:00Z"));
  restart_at(at("2025-03-03T11:41:00Z"));
  initialize("0 * * * *", 10min);
  EXPECT_EQ(start_at(at("2025-03-03T15:30:00Z")).reason, Reason::retry);
  EXPECT_EQ(account().fates, (PulseFates{.run = 1, .asleep = 2, .retry = 1}));
}

// P4: a start that is not durable served nothing.
TEST_F(AccountTest, counts_a_pulse_once_if_its_start_is_tried_again) {
  initialize("0 * * * *");
  succeed(start_at(now), now);
  for (const Instant at : {now + 1h, now + 1h + 1s, now + 1h + 2s}) {
    faults.commit = 1;
    EXPECT_TRUE(engine->step(at).starts.empty());
  }
  (void)start_at(now + 1h + 10s);
  EXPECT_EQ(account().fates, PulseFates{.run = 2});
}

}  // namespace
}  // namespace dutiful
