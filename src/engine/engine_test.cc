// The durable step: what is durable before what, and what a failing store does to it.

#include <gmock/gmock.h>

#include "engine/engine_in_test.h"

namespace dutiful {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

// Whoever is killed after the list is durable and before that is told must have told which list.
TEST_F(EngineTest, lets_the_trace_have_the_list_before_the_state_has_it) {
  initialize("0 * * * *");
  EXPECT_EQ(durable_when_flushed, false);
}

// P1: a start is durable before it is handed out.
TEST_F(EngineTest, marks_a_run_before_it_starts) {
  initialize("0 * * * *");
  const auto starts = engine->step(now).starts;
  ASSERT_EQ(starts.size(), 1);
  EXPECT_EQ(starts[0].reason, Reason::boot);
  EXPECT_EQ(stored().state, TaskState::running);
  EXPECT_EQ(stored().last_attempt, now);
}

// P1, X3: a commit that fails undoes the start and keeps the obligation.
TEST_F(EngineTest, keeps_the_obligation_when_a_commit_fails) {
  initialize("0 * * * *");
  faults.commit = 2;
  EXPECT_TRUE(engine->step(now).starts.empty());
  EXPECT_EQ(stored().state, TaskState::awaiting_run);
  EXPECT_THAT(told("StoreFailed"), ElementsAre(HasSubstr("fails on purpose")));

  // It is tried again, later and later.
  EXPECT_EQ(engine->next_wake(), now + 100ms);
  EXPECT_TRUE(engine->step(now + 99ms).starts.empty());
  EXPECT_EQ(told("StoreFailed").size(), 1);
  EXPECT_TRUE(engine->step(now + 100ms).starts.empty());
  EXPECT_EQ(engine->next_wake(), now + 300ms);
  const auto starts = engine->step(now + 300ms).starts;
  ASSERT_EQ(starts.size(), 1);
  EXPECT_EQ(starts[0].reason, Reason::boot);
  EXPECT_EQ(starts[0].at, now + 300ms);
  EXPECT_EQ(told("StoreFailed").size(), 2);
}

TEST_F(EngineTest, records_an_end_when_the_store_is_well_again) {
  initialize("0 * * * *");
  const auto starts = engine->step(now).starts;
  faults.commit = 1;
  engine->end(starts[0].task, Outcome::failure, now + 1s, "no luck");
  engine->record_ends(now + 1s);
  EXPECT_EQ(stored().state, TaskState::running);
  EXPECT_TRUE(told("TaskRunFailed").empty());  // H5: observed when it is recorded

  EXPECT_TRUE(engine->step(engine->next_wake()).starts.empty());
  EXPECT_EQ(stored().state, TaskState::awaiting_retry);
  EXPECT_EQ(stored().retry_at, now + 1s + 100ms + 1min);  // K5: from when it is recorded
  EXPECT_THAT(
      told("TaskRunFailed"),
      ElementsAre(testing::AllOf(HasSubstr("\"error\":\"no luck\""),
                                 HasSubstr("\"nextRetryAt\":\"2025-03-03T10:01:31.100Z\""))));
}

// I4, P5: a run that outlived the removal of its task is known to the state again when it is back.
TEST_F(EngineTest, restarts_a_run_that_a_crash_interrupted_after_its_task_was_back) {
  policies.reinitialize = Reinitialize::reconcile;
  engine = make();
  initialize("0 * * * *");
  EXPECT_EQ(engine->step(now).starts.size(), 1U);
  engine->initialize({}, now);
  initialize("0 * * * *");
  EXPECT_TRUE(engine->step(now).starts.empty());
  EXPECT_EQ(stored().state, TaskState::running);

  engine.reset();
  engine = make();
  initialize("0 * * * *");
  const auto starts = engine->step(now).starts;
  ASSERT_EQ(starts.size(), 1U);
  EXPECT_EQ(starts[0].reason, Reason::orphan);
}

// K5, H5: also where it is a new list that records it.
TEST_F(EngineTest, counts_a_retry_from_the_list_that_recorded_the_failure) {
  policies.reinitialize = Reinitialize::reconcile;
  engine = make();
  initialize("0 * * * *");
  const auto starts = engine->step(now).starts;
  faults.commit = 1;
  engine->end(starts[0].task, Outcome::failure, now + 1s);
  engine->record_ends(now + 1s);
  engine->initialize({{.name = "a", .cron = "0 * * * *", .retry_delay = 1min}}, now + 5s);
  EXPECT_EQ(stored().retry_at, now + 5s + 1min);
}

// I5: a stop waits for the record of the last end, too.
TEST_F(EngineTest, stops_only_when_the_last_end_is_recorded) {
  initialize("0 * * * *");
  const auto starts = engine->step(now).starts;
  EXPECT_FALSE(engine->stop(now));
  EXPECT_FALSE(engine->record_ends(now));
  engine->end(starts[0].task, Outcome::success, now + 1s);
  faults.commit = 1;
  EXPECT_FALSE(engine->record_ends(now + 1s));
  EXPECT_EQ(engine->lifecycle(), Lifecycle::stopping);
  const auto [started, stopped] = engine->step(engine->next_wake());
  EXPECT_TRUE(started.empty());
  EXPECT_TRUE(stopped);
  EXPECT_EQ(engine->lifecycle(), Lifecycle::uninitialized);
  EXPECT_EQ(stored().state, TaskState::awaiting_run);
}

// I5
TEST_F(EngineTest, stops_at_once_if_nothing_runs) {
  initialize("30 * * * *");
  EXPECT_FALSE(engine->step(now).stopped);
  EXPECT_FALSE(engine->record_ends(now));
  EXPECT_TRUE(engine->stop(now));
  EXPECT_EQ(engine->lifecycle(), Lifecycle::uninitialized);
  EXPECT_TRUE(engine->stop(now));
}

// I2, P4: an initialization that fails, wherever, changes nothing. H12: the trace says whether the
// list or the world was at fault.
TEST_F(EngineTest, changes_nothing_when_initialization_fails) {
  faults.load = 1;
  EXPECT_THROW(initialize("0 * * * *"), StoreError);
  EXPECT_EQ(engine->lifecycle(), Lifecycle::uninitialized);
  EXPECT_EQ(refusal.cause, RefusalCause::environment);
  faults.replace = 1;
  EXPECT_THROW(initialize("0 * * * *"), StoreError);
  EXPECT_TRUE(state->rows.empty());
  EXPECT_FALSE(state->held);
  EXPECT_EQ(told("SchedulerInitializationFailed").size(), 2);
  EXPECT_EQ(told("SchedulerInitializationStarted").size(), 2);
  EXPECT_EQ(refusal.error, "StoreError");
  EXPECT_EQ(refusal.cause, RefusalCause::environment);
  EXPECT_THROW(initialize("0 0 0 0 0"), CronExpressionInvalidError);
  EXPECT_EQ(refusal.error, "CronExpressionInvalidError");
  EXPECT_EQ(refusal.cause, RefusalCause::list);
  EXPECT_EQ(told("SchedulerInitializationStarted").size(), 3);
  EXPECT_NO_THROW(initialize("0 * * * *"));
}

TEST_F(EngineTest, goes_on_with_the_old_list_when_reconciling_fails) {
  policies.reinitialize = Reinitialize::reconcile;
  engine = make();
  initialize("5 * * * *");
  faults.replace = 1;
  EXPECT_THROW(initialize("1 * * * *"), StoreError);
  EXPECT_FALSE(crashed);
  EXPECT_EQ(engine->lifecycle(), Lifecycle::running);
  EXPECT_EQ(engine->next_wake(), at("2025-03-03T10:05:00Z"));
}

// An end that could not be recorded must not be lost with the numbers of the old list.
TEST_F(EngineTest, records_what_has_ended_before_it_reconciles) {
  policies.reinitialize = Reinitialize::reconcile;
  engine = make();
  initialize("0 * * * *");
  const auto starts = engine->step(now).starts;
  engine->end(starts[0].task, Outcome::success, now + 1s);
  faults.commit = 2;
  engine->record_ends(now + 1s);
  now += 2s;
  EXPECT_THROW(initialize("0 * * * *"), StoreError);  // it still fails, and the old list stands
  EXPECT_EQ(stored().state, TaskState::running);
  initialize("0 * * * *");
  EXPECT_EQ(stored().state, TaskState::awaiting_run);
  EXPECT_EQ(told("TaskRunCompleted").size(), 1);
}

// A sink that throws is told off by nobody, and disturbs nothing.
TEST_F(EngineTest, survives_a_sink_that_throws) {
  engine = std::make_unique<Engine>(
      Calendar{Zone::utc()},
      policies,
      [this] { return std::make_unique<FaultyStore>(state, faults); },
      *this,
      [](const TypedEvent& /*event*/) { throw std::runtime_error("full"); });
  initialize("0 * * * *");
  EXPECT_EQ(engine->step(now).starts.size(), 1);
}

// I4: the run of a task goes on while the list grows around it, wherever its name stands.
TEST_F(EngineTest, keeps_a_run_while_the_list_grows) {
  policies.reinitialize = Reinitialize::reconcile;
  engine = make();
  engine->initialize({{.name = "zz", .cron = "* * * * *", .retry_delay = 1min}}, now);
  const auto starts = engine->step(now).starts;
  ASSERT_EQ(starts.size(), 1);
  std::vector<TaskConfig> list;
  for (int i = 0; i < 200; ++i) {
    list.push_back(
        {.name = "a long name that is not kept inside a string object " + std::to_string(i),
         .cron = "0 0 1 1 *",
         .retry_delay = 1min});
  }
  list.push_back({.name = "zz", .cron = "* * * * *", .retry_delay = 1min});
  engine->initialize(list, now);
  EXPECT_EQ(engine->core().task(starts[0].task).name, "zz");
  engine->end(starts[0].task, Outcome::success, now + 1s);
  EXPECT_EQ(engine->step(now + 1min).starts.size(), 1);
}

// I5: a store that never recovers does not keep a stop for ever.
TEST_F(EngineTest, gives_up_on_a_store_that_keeps_failing_while_it_stops) {
  initialize("0 * * * *");
  const auto starts = engine->step(now).starts;
  engine->stop(now);
  engine->end(starts[0].task, Outcome::success, now + 1s);
  faults.commit = 1000;
  bool stopped = engine->record_ends(now + 1s);
  for (int i = 0; i < 10 && !stopped; ++i) stopped = engine->step(engine->next_wake()).stopped;
  EXPECT_TRUE(stopped);
  EXPECT_EQ(engine->lifecycle(), Lifecycle::uninitialized);
  EXPECT_NE(engine->stop_error(), nullptr);
  EXPECT_FALSE(state->held);
  // The run counts as interrupted (H5).
  faults.commit = 0;
  initialize("0 * * * *");
  EXPECT_EQ(engine->step(now).starts[0].reason, Reason::orphan);
}

// However long the store has failed by then, and waits for the next try: somebody waits for the
// stop.
TEST_F(EngineTest, gives_up_soon_on_a_store_that_has_failed_for_long) {
  initialize("0 * * * *");
  const auto starts = engine->step(now).starts;
  faults.commit = 1000;
  engine->end(starts[0].task, Outcome::success, now);
  while (engine->next_wake() < now + 10min) (void)engine->step(std::max(now, engine->next_wake()));
  now += 10min;

  engine->stop(now);
  Instant tried = now;
  while (engine->lifecycle() == Lifecycle::stopping) {
    (void)engine->step(tried = std::max(now, engine->next_wake()));
  }
  EXPECT_LE(tried, now + 5s);
  EXPECT_NE(engine->stop_error(), nullptr);
}

// Another process may hold a lock, so that each try takes the five seconds that SQLite waits.
TEST_F(EngineTest, gives_up_soon_on_a_store_that_takes_long_to_fail) {
  initialize("0 * * * *");
  const auto starts = engine->step(now).starts;
  engine->end(starts[0].task, Outcome::success, now);
  faults.commit = 1000;
  engine->stop(now);
  Instant begun = now;
  while (engine->lifecycle() == Lifecycle::stopping) {
    (void)engine->step(begun = std::max(begun + 5s, engine->next_wake()));
  }
  EXPECT_LE(begun, now + 10s);
  EXPECT_NE(engine->stop_error(), nullptr);
}

// A scheduler that starts anew does not wait for the store of the one before.
TEST_F(EngineTest, forgets_the_failures_of_a_store_it_has_let_go) {
  initialize("0 * * * *");
  faults.commit = 1;
  EXPECT_TRUE(engine->step(now).starts.empty());
  engine->stop(now);
  initialize("0 * * * *");
  EXPECT_EQ(engine->step(now).starts.size(), 1);
}

// P2, P5: persisted as running by a scheduler that is no more.
TEST_F(EngineTest, restarts_what_a_crash_interrupted) {
  initialize("0 * * * *");
  (void)engine->step(now);
  const std::string holder = state->scheduler;
  engine.reset();  // a crash: nothing of it is left but the store
  engine = make();
  now += 1min;
  initialize("0 * * * *");
  EXPECT_THAT(told("TaskOrphaned"), ElementsAre(HasSubstr("\"schedulerIdentifier\":\"" + holder)));
  const auto starts = engine->step(now).starts;
  ASSERT_EQ(starts.size(), 1);
  EXPECT_EQ(starts[0].reason, Reason::orphan);
  EXPECT_EQ(engine->core().task(starts[0].task).progress.attempt, 2);
}

// P8: what could not be recorded may be on the disk all the same.
TEST_F(EngineTest, hands_out_no_fence_twice) {
  initialize("0 * * * *");
  faults.commit = 1;
  EXPECT_TRUE(engine->step(now).starts.empty());
  now = engine->next_wake();
  auto starts = engine->step(now).starts;
  ASSERT_EQ(starts.size(), 1);
  EXPECT_EQ(stored().fence, 2);

  engine = nullptr;  // a crash
  engine = make();
  initialize("0 * * * *");
  (void)engine->step(now);
  EXPECT_EQ(stored().fence, 3);
}

// V: retries since the last pulse run, not attempts: a restart after a crash is none.
TEST_F(EngineTest, says_how_often_a_run_was_retried) {
  const auto run = [&](Reason reason) {
    const auto starts = engine->step(now += 1min).starts;
    ASSERT_EQ(starts.size(), 1);
    EXPECT_EQ(starts[0].reason, reason);
    engine->end(starts[0].task, Outcome::failure, now, "no");
    engine->record_ends(now);
  };
  const auto crash = [&] {
    (void)engine->step(now += 1min);
    engine = nullptr;
    engine = make();
    initialize("0 * * * *");
  };
  initialize("0 * * * *");
  crash();
  run(Reason::orphan);
  run(Reason::retry);
  run(Reason::retry);
  crash();  // in the third retry
  run(Reason::orphan);
  run(Reason::retry);
  now = at("2025-03-03T10:58:30Z");
  run(Reason::retry);
  run(Reason::cron);
  run(Reason::retry);
  EXPECT_THAT(told("TaskRetryStarted"),
              ElementsAre(HasSubstr("\"retryCount\":1}"),
                          HasSubstr("\"retryCount\":2}"),
                          HasSubstr("\"retryCount\":3}"),
                          HasSubstr("\"retryCount\":4}"),
                          HasSubstr("\"retryCount\":5}"),
                          HasSubstr("\"retryCount\":1}")));
}

// X3: a retry that is pre-empted every minute for years leaves nothing behind.
TEST_F(EngineTest, does_not_grow_with_time) {
  initialize("* * * * *", std::chrono::days{366});
  now = at("2025-03-03T10:01:00Z");
  for (int i = 0; i < 5000; ++i, now += 1min) {
    const auto starts = engine->step(now).starts;
    ASSERT_EQ(starts.size(), 1);
    engine->end(starts[0].task, Outcome::failure, now, "no");
    events.clear();
  }
  EXPECT_LT(engine->core().queued(), 500);
}

}  // namespace
}  // namespace dutiful
