// The durable step: the order in which things become durable, and the effect of a failing store.

#include <gmock/gmock.h>

#include "engine/engine_in_test.h"

namespace dutiful {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

// If the process is killed after the list is durable, and before InitSuccess is traced, the trace
// must contain the list.
TEST_F(EngineTest, traces_the_list_before_it_is_durable) {
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
  EXPECT_THAT(reported("StoreFailed"), ElementsAre(HasSubstr("fails on purpose")));

  // It is tried again after growing delays.
  EXPECT_EQ(engine->next_wake(), now + 100ms);
  EXPECT_TRUE(engine->step(now + 99ms).starts.empty());
  EXPECT_EQ(reported("StoreFailed").size(), 1);
  EXPECT_TRUE(engine->step(now + 100ms).starts.empty());
  EXPECT_EQ(engine->next_wake(), now + 300ms);
  const auto starts = engine->step(now + 300ms).starts;
  ASSERT_EQ(starts.size(), 1);
  EXPECT_EQ(starts[0].reason, Reason::boot);
  EXPECT_EQ(starts[0].at, now + 300ms);
  EXPECT_EQ(reported("StoreFailed").size(), 2);
}

TEST_F(EngineTest, records_an_end_when_the_store_works_again) {
  initialize("0 * * * *");
  const auto starts = engine->step(now).starts;
  faults.commit = 1;
  end(starts[0], Outcome::failure, now + 1s, "no luck");
  engine->record_ends(now + 1s);
  EXPECT_EQ(stored().state, TaskState::running);
  EXPECT_TRUE(reported("TaskRunFailed").empty());  // H5: observed when it is recorded

  EXPECT_TRUE(engine->step(engine->next_wake()).starts.empty());
  EXPECT_EQ(stored().state, TaskState::awaiting_retry);
  EXPECT_EQ(stored().retry_at, now + 1s + 100ms + 1min);  // K5: from when it is recorded
  EXPECT_THAT(
      reported("TaskRunFailed"),
      ElementsAre(testing::AllOf(HasSubstr("\"error\":\"no luck\""),
                                 HasSubstr("\"nextRetryAt\":\"2025-03-03T10:01:31.100Z\""))));
}

// I4, P5: the task is removed while it runs, and registered again before the run ends.
TEST_F(EngineTest, restarts_an_interrupted_run_of_a_task_that_was_registered_again) {
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

// K5, H5: also if a new list causes the record.
TEST_F(EngineTest, counts_a_retry_from_the_list_that_recorded_the_failure) {
  policies.reinitialize = Reinitialize::reconcile;
  engine = make();
  initialize("0 * * * *");
  const auto starts = engine->step(now).starts;
  faults.commit = 1;
  end(starts[0], Outcome::failure, now + 1s);
  engine->record_ends(now + 1s);
  engine->initialize({{.name = "a", .cron = "0 * * * *", .retry_delay = 1min}}, now + 5s);
  EXPECT_EQ(stored().retry_at, now + 5s + 1min);
}

// I5: a stop also waits for the record of the last end.
TEST_F(EngineTest, stops_only_when_the_last_end_is_recorded) {
  initialize("0 * * * *");
  const auto starts = engine->step(now).starts;
  EXPECT_FALSE(engine->stop(now));
  EXPECT_FALSE(engine->record_ends(now));
  end(starts[0], Outcome::success, now + 1s);
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

// I2, P4: an initialization that fails at any point changes nothing. H12: the trace says whether
// the list or the environment was the cause.
TEST_F(EngineTest, changes_nothing_when_initialization_fails) {
  faults.load = 1;
  EXPECT_THROW(initialize("0 * * * *"), StoreError);
  EXPECT_EQ(engine->lifecycle(), Lifecycle::uninitialized);
  EXPECT_EQ(refusal.cause, RefusalCause::environment);
  faults.replace = 1;
  EXPECT_THROW(initialize("0 * * * *"), StoreError);
  EXPECT_TRUE(state->rows.empty());
  EXPECT_FALSE(state->held);
  EXPECT_EQ(reported("SchedulerInitializationFailed").size(), 2);
  EXPECT_EQ(reported("SchedulerInitializationStarted").size(), 2);
  EXPECT_EQ(refusal.error, "StoreError");
  EXPECT_EQ(refusal.cause, RefusalCause::environment);
  EXPECT_THROW(initialize("0 0 0 0 0"), CronExpressionInvalidError);
  EXPECT_EQ(refusal.error, "CronExpressionInvalidError");
  EXPECT_EQ(refusal.cause, RefusalCause::list);
  EXPECT_EQ(reported("SchedulerInitializationStarted").size(), 3);
  EXPECT_NO_THROW(initialize("0 * * * *"));
}

TEST_F(EngineTest, continues_with_the_old_list_when_reconciling_fails) {
  policies.reinitialize = Reinitialize::reconcile;
  engine = make();
  initialize("5 * * * *");
  faults.replace = 1;
  EXPECT_THROW(initialize("1 * * * *"), StoreError);
  EXPECT_FALSE(crashed);
  EXPECT_EQ(engine->lifecycle(), Lifecycle::running);
  EXPECT_EQ(engine->next_wake(), at("2025-03-03T10:05:00Z"));
}

// An unrecorded end must not be lost with the numbers of the old list.
TEST_F(EngineTest, records_ends_before_it_reconciles) {
  policies.reinitialize = Reinitialize::reconcile;
  engine = make();
  initialize("0 * * * *");
  const auto starts = engine->step(now).starts;
  end(starts[0], Outcome::success, now + 1s);
  faults.commit = 2;
  engine->record_ends(now + 1s);
  now += 2s;
  EXPECT_THROW(initialize("0 * * * *"), StoreError);  // it still fails, and the old list stands
  EXPECT_EQ(stored().state, TaskState::running);
  initialize("0 * * * *");
  EXPECT_EQ(stored().state, TaskState::awaiting_run);
  EXPECT_EQ(reported("TaskRunCompleted").size(), 1);
}

// What a sink throws is ignored.
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

// I4: the run of a task continues while the list grows, wherever the name is in it.
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
  end(starts[0], Outcome::success, now + 1s);
  EXPECT_EQ(engine->step(now + 1min).starts.size(), 1);
}

// I5: a store that never recovers does not block a stop for ever.
TEST_F(EngineTest, gives_up_on_a_store_that_keeps_failing_while_it_stops) {
  initialize("0 * * * *");
  const auto starts = engine->step(now).starts;
  engine->stop(now);
  end(starts[0], Outcome::success, now + 1s);
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

// Somebody waits for the stop, however long the store has failed before it.
TEST_F(EngineTest, gives_up_soon_on_a_store_that_has_failed_for_long) {
  initialize("0 * * * *");
  const auto starts = engine->step(now).starts;
  faults.commit = 1000;
  end(starts[0], Outcome::success, now);
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
  end(starts[0], Outcome::success, now);
  faults.commit = 1000;
  engine->stop(now);
  Instant begun = now;
  while (engine->lifecycle() == Lifecycle::stopping) {
    (void)engine->step(begun = std::max(begun + 5s, engine->next_wake()));
  }
  EXPECT_LE(begun, now + 10s);
  EXPECT_NE(engine->stop_error(), nullptr);
}

// A scheduler that is initialized again does not wait because of the previous store.
TEST_F(EngineTest, forgets_the_failures_of_a_released_store) {
  initialize("0 * * * *");
  faults.commit = 1;
  EXPECT_TRUE(engine->step(now).starts.empty());
  engine->stop(now);
  initialize("0 * * * *");
  EXPECT_EQ(engine->step(now).starts.size(), 1);
}

// P2, P5: persisted as running by a scheduler that no longer exists.
TEST_F(EngineTest, restarts_what_a_crash_interrupted) {
  initialize("0 * * * *");
  (void)engine->step(now);
  const std::string holder = state->scheduler;
  engine.reset();  // a crash: only the store remains
  engine = make();
  now += 1min;
  initialize("0 * * * *");
  EXPECT_THAT(reported("TaskOrphaned"),
              ElementsAre(HasSubstr("\"schedulerIdentifier\":\"" + holder)));
  const auto starts = engine->step(now).starts;
  ASSERT_EQ(starts.size(), 1);
  EXPECT_EQ(starts[0].reason, Reason::orphan);
  EXPECT_EQ(engine->core().task(starts[0].task).progress.attempt, 2);
}

// P8: a failed transaction may have reached the disk.
TEST_F(EngineTest, uses_no_fence_twice) {
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

// V: retries since the first run for the pulse. A restart after a crash is not a retry.
TEST_F(EngineTest, reports_how_often_a_run_was_retried) {
  const auto run = [&](Reason reason) {
    const auto starts = engine->step(now += 1min).starts;
    ASSERT_EQ(starts.size(), 1);
    EXPECT_EQ(starts[0].reason, reason);
    end(starts[0], Outcome::failure, now, "no");
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
  EXPECT_THAT(reported("TaskRetryStarted"),
              ElementsAre(HasSubstr("\"retryCount\":1}"),
                          HasSubstr("\"retryCount\":2}"),
                          HasSubstr("\"retryCount\":3}"),
                          HasSubstr("\"retryCount\":4}"),
                          HasSubstr("\"retryCount\":5}"),
                          HasSubstr("\"retryCount\":1}")));
}

// X3: a retry that is pre-empted every minute for years does not fill the queues.
TEST_F(EngineTest, does_not_grow_with_time) {
  initialize("* * * * *", std::chrono::days{366});
  now = at("2025-03-03T10:01:00Z");
  for (int i = 0; i < 5000; ++i, now += 1min) {
    const auto starts = engine->step(now).starts;
    ASSERT_EQ(starts.size(), 1);
    end(starts[0], Outcome::failure, now, "no");
    events.clear();
  }
  EXPECT_LT(engine->core().queued(), 500);
}

}  // namespace
}  // namespace dutiful
