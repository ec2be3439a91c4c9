// The durable step, without threads or clocks: what is durable before what, and what a failing
// store does to it.

#include "engine/engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <dutiful/errors.h>

#include "store/memory/memory_store.h"
#include "support/times.h"

namespace dutiful {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

// Fails as often as it is told to, at the call it is told to.
class FaultyStore : public MemoryStore {
 public:
  struct Faults {
    int load = 0;
    int replace = 0;
    int commit = 0;
  };
  FaultyStore(std::shared_ptr<MemoryState> state, Faults& faults)
      : MemoryStore(std::move(state)), faults_(faults) {}

  std::vector<TaskRecord> load() override {
    fail(faults_.load);
    return MemoryStore::load();
  }
  std::vector<std::int64_t> replace(const Plan& plan, const std::string& scheduler) override {
    fail(faults_.replace);
    return MemoryStore::replace(plan, scheduler);
  }
  void commit(std::span<const RowUpdate> updates) override {
    fail(faults_.commit);
    MemoryStore::commit(updates);
  }

 private:
  static void fail(int& times) {
    if (times > 0) {
      --times;
      throw StoreError("test", "fails on purpose");
    }
  }
  Faults& faults_;
};

class EngineTest : public testing::Test, public TraceSink {
 protected:
  std::shared_ptr<MemoryState> state = std::make_shared<MemoryState>();
  FaultyStore::Faults faults;
  std::vector<std::string> events;
  Instant now = at("2025-03-03T10:00:30Z");
  Policies policies;
  std::unique_ptr<Engine> engine = make();

  std::unique_ptr<Engine> make(const char* zone = "UTC") {
    return std::make_unique<Engine>(
        Calendar{Zone::load(zone)},
        policies,
        [this] { return std::make_unique<FaultyStore>(state, faults); },
        *this,
        [this](const Event& event) { events.push_back(to_json(event)); });
  }

  void on(Instant /*at*/, const TraceEvent& event) override {
    if (std::holds_alternative<InitStart>(event)) durable_when_flushed = {};
  }
  void flush() override {
    if (!durable_when_flushed) durable_when_flushed = !state->rows.empty();
  }
  std::optional<bool> durable_when_flushed = false;

  void initialize(const std::string& cron, Duration retry_delay = 1min) {
    engine->initialize({{.name = "a", .cron = cron, .retry_delay = retry_delay}}, now);
  }

  // The events of that name so far.
  [[nodiscard]] std::vector<std::string> told(const std::string& name) const {
    std::vector<std::string> found;
    for (const std::string& event : events) {
      if (event.find("\"event\":\"" + name + "\"") != std::string::npos) found.push_back(event);
    }
    return found;
  }
  [[nodiscard]] const TaskProgress& stored() const { return state->rows.front().progress; }
};

// Whoever is killed after the list is durable and before that is told must have told which list.
TEST_F(EngineTest, lets_the_trace_have_the_list_before_the_state_has_it) {
  initialize("0 * * * *");
  EXPECT_EQ(durable_when_flushed, false);
}

// P1: a start is durable before it is handed out.
TEST_F(EngineTest, marks_a_run_before_it_starts) {
  initialize("0 * * * *");
  const auto starts = engine->step(now);
  ASSERT_EQ(starts.size(), 1);
  EXPECT_EQ(starts[0].reason, Reason::boot);
  EXPECT_EQ(stored().state, TaskState::running);
  EXPECT_EQ(stored().last_attempt, now);
}

// P1, X3: a commit that fails undoes the start and keeps the obligation.
TEST_F(EngineTest, keeps_the_obligation_when_a_commit_fails) {
  initialize("0 * * * *");
  faults.commit = 2;
  EXPECT_TRUE(engine->step(now).empty());
  EXPECT_EQ(stored().state, TaskState::awaiting_run);
  EXPECT_NE(engine->store_error(), nullptr);
  EXPECT_THAT(told("StoreFailed"), ElementsAre(HasSubstr("fails on purpose")));

  // It is tried again, later and later.
  EXPECT_EQ(engine->next_wake(), now + 100ms);
  EXPECT_TRUE(engine->step(now + 99ms).empty());
  EXPECT_EQ(told("StoreFailed").size(), 1);
  EXPECT_TRUE(engine->step(now + 100ms).empty());
  EXPECT_EQ(engine->next_wake(), now + 300ms);
  const auto starts = engine->step(now + 300ms);
  ASSERT_EQ(starts.size(), 1);
  EXPECT_EQ(starts[0].reason, Reason::boot);
  EXPECT_EQ(starts[0].at, now + 300ms);
  EXPECT_EQ(engine->store_error(), nullptr);
}

TEST_F(EngineTest, records_an_end_when_the_store_is_well_again) {
  initialize("0 * * * *");
  const auto starts = engine->step(now);
  faults.commit = 1;
  engine->end(starts[0].task, Outcome::failure, now + 1s, "no luck");
  engine->settle(now + 1s);
  EXPECT_EQ(stored().state, TaskState::running);
  EXPECT_TRUE(told("TaskRunFailed").empty());  // H5: observed when it is recorded

  EXPECT_TRUE(engine->step(engine->next_wake()).empty());
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
  EXPECT_EQ(engine->step(now).size(), 1U);
  engine->initialize({}, now);
  initialize("0 * * * *");
  EXPECT_TRUE(engine->step(now).empty());
  EXPECT_EQ(stored().state, TaskState::running);

  engine.reset();
  engine = make();
  initialize("0 * * * *");
  const auto starts = engine->step(now);
  ASSERT_EQ(starts.size(), 1U);
  EXPECT_EQ(starts[0].reason, Reason::orphan);
}

// K5, H5: also where it is a new list that records it.
TEST_F(EngineTest, counts_a_retry_from_the_list_that_recorded_the_failure) {
  policies.reinitialize = Reinitialize::reconcile;
  engine = make();
  initialize("0 * * * *");
  const auto starts = engine->step(now);
  faults.commit = 1;
  engine->end(starts[0].task, Outcome::failure, now + 1s);
  engine->settle(now + 1s);
  engine->initialize({{.name = "a", .cron = "0 * * * *", .retry_delay = 1min}}, now + 5s);
  EXPECT_EQ(stored().retry_at, now + 5s + 1min);
}

// I5: a stop waits for the record of the last end, too.
TEST_F(EngineTest, stops_only_when_the_last_end_is_recorded) {
  initialize("0 * * * *");
  const auto starts = engine->step(now);
  engine->stop(now);
  engine->end(starts[0].task, Outcome::success, now + 1s);
  faults.commit = 1;
  engine->settle(now + 1s);
  EXPECT_EQ(engine->lifecycle(), Lifecycle::stopping);
  EXPECT_TRUE(engine->step(engine->next_wake()).empty());
  EXPECT_EQ(engine->lifecycle(), Lifecycle::uninitialized);
  EXPECT_EQ(stored().state, TaskState::awaiting_run);
}

// I2, P4: an initialization that fails, wherever, changes nothing.
TEST_F(EngineTest, changes_nothing_when_initialization_fails) {
  faults.load = 1;
  EXPECT_THROW(initialize("0 * * * *"), StoreError);
  EXPECT_EQ(engine->lifecycle(), Lifecycle::uninitialized);
  faults.replace = 1;
  EXPECT_THROW(initialize("0 * * * *"), StoreError);
  EXPECT_TRUE(state->rows.empty());
  EXPECT_FALSE(state->held);
  EXPECT_EQ(told("SchedulerInitializationFailed").size(), 2);
  EXPECT_NO_THROW(initialize("0 * * * *"));
}

TEST_F(EngineTest, goes_on_with_the_old_list_when_reconciling_fails) {
  policies.reinitialize = Reinitialize::reconcile;
  engine = make();
  initialize("5 * * * *");
  faults.replace = 1;
  EXPECT_THROW(initialize("1 * * * *"), StoreError);
  EXPECT_EQ(engine->lifecycle(), Lifecycle::running);
  EXPECT_EQ(engine->next_wake(), at("2025-03-03T10:05:00Z"));
}

// An end that could not be recorded must not be lost with the numbers of the old list.
TEST_F(EngineTest, records_what_has_ended_before_it_reconciles) {
  policies.reinitialize = Reinitialize::reconcile;
  engine = make();
  initialize("0 * * * *");
  const auto starts = engine->step(now);
  engine->end(starts[0].task, Outcome::success, now + 1s);
  faults.commit = 2;
  engine->settle(now + 1s);
  now += 2s;
  EXPECT_THROW(initialize("0 * * * *"), StoreError);  // it still fails, and the old list stands
  EXPECT_EQ(stored().state, TaskState::running);
  initialize("0 * * * *");
  EXPECT_EQ(stored().state, TaskState::awaiting_run);
  EXPECT_EQ(told("TaskRunCompleted").size(), 1);
}

// T7, X3: the clock is set back while a failed transaction waits for its next try.
TEST_F(EngineTest, does_not_wait_for_a_time_that_the_clock_has_left_behind) {
  initialize("0 * * * *");
  faults.commit = 1;
  EXPECT_TRUE(engine->step(now).empty());
  EXPECT_EQ(engine->step(now - 2h).size(), 1);
}

// A sink that throws is told off by nobody, and disturbs nothing.
TEST_F(EngineTest, survives_a_sink_that_throws) {
  engine = std::make_unique<Engine>(
      Calendar{Zone::utc()},
      policies,
      [this] { return std::make_unique<FaultyStore>(state, faults); },
      *this,
      [](const Event& /*event*/) { throw std::runtime_error("full"); });
  initialize("0 * * * *");
  EXPECT_EQ(engine->step(now).size(), 1);
}

// I4: the run of a task goes on while the list grows around it, wherever its name stands.
TEST_F(EngineTest, keeps_a_run_while_the_list_grows) {
  policies.reinitialize = Reinitialize::reconcile;
  engine = make();
  engine->initialize({{.name = "zz", .cron = "* * * * *", .retry_delay = 1min}}, now);
  const auto starts = engine->step(now);
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
  EXPECT_EQ(engine->step(now + 1min).size(), 1);
}

// I5: a store that never recovers does not keep a stop for ever.
TEST_F(EngineTest, gives_up_on_a_store_that_keeps_failing_while_it_stops) {
  initialize("0 * * * *");
  const auto starts = engine->step(now);
  engine->stop(now);
  engine->end(starts[0].task, Outcome::success, now + 1s);
  faults.commit = 1000;
  engine->settle(now + 1s);
  for (int i = 0; i < 10 && engine->lifecycle() == Lifecycle::stopping; ++i) {
    (void)engine->step(engine->next_wake());
  }
  EXPECT_EQ(engine->lifecycle(), Lifecycle::uninitialized);
  EXPECT_NE(engine->stop_error(), nullptr);
  EXPECT_FALSE(state->held);
  // The run counts as interrupted (H5).
  faults.commit = 0;
  initialize("0 * * * *");
  EXPECT_EQ(engine->step(now)[0].reason, Reason::orphan);
}

// However long the store has failed by then, and waits for the next try: somebody waits for the
// stop.
TEST_F(EngineTest, gives_up_soon_on_a_store_that_has_failed_for_long) {
  initialize("0 * * * *");
  const auto starts = engine->step(now);
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

// A scheduler that starts anew does not wait for the store of the one before.
TEST_F(EngineTest, forgets_the_failures_of_a_store_it_has_let_go) {
  initialize("0 * * * *");
  faults.commit = 1;
  EXPECT_TRUE(engine->step(now).empty());
  engine->stop(now);
  initialize("0 * * * *");
  EXPECT_EQ(engine->step(now).size(), 1);
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
  const auto starts = engine->step(now);
  ASSERT_EQ(starts.size(), 1);
  EXPECT_EQ(starts[0].reason, Reason::orphan);
  EXPECT_EQ(engine->core().task(starts[0].task).progress.attempt, 2);
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

// X3: a retry that is pre-empted every minute for years leaves nothing behind.
TEST_F(EngineTest, does_not_grow_with_time) {
  initialize("* * * * *", std::chrono::days{366});
  now = at("2025-03-03T10:01:00Z");
  for (int i = 0; i < 5000; ++i, now += 1min) {
    const auto starts = engine->step(now);
    ASSERT_EQ(starts.size(), 1);
    engine->end(starts[0].task, Outcome::failure, now, "no");
    events.clear();
  }
  EXPECT_LT(engine->core().queued(), 500);
}

}  // namespace
}  // namespace dutiful
