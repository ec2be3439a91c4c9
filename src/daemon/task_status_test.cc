#include "daemon/task_status.h"

#include <csignal>
#include <memory>

#include <gtest/gtest.h>

#include "store/sqlite/sqlite_store.h"
#include "support/temporary_directory.h"
#include "support/times.h"

namespace dutiful {
namespace {

using State = RecordedTask::State;

// Hourly tasks that were added at 10:00:30.
class Status : public testing::Test {
 protected:
  static TaskProgress fresh() {
    return {.first_coming = at("2025-03-03T10:00:30Z"), .served_until = at("2025-03-03T10:00:30Z")};
  }
  // Its run of 11:00, which started 250 ms late.
  static TaskProgress running() {
    TaskProgress progress = fresh();
    progress.state = TaskState::running;
    progress.attempt = 1;
    progress.fence = 1;
    progress.pulse = at("2025-03-03T11:00:00Z");
    progress.last_attempt = progress.served_until = at("2025-03-03T11:00:00.250Z");
    return progress;
  }
  // That run failed at 11:05, with a retry delay of ten minutes.
  static TaskProgress failed() {
    TaskProgress progress = running();
    progress.state = TaskState::awaiting_retry;
    progress.last_failure = at("2025-03-03T11:05:00Z");
    progress.retry_at = at("2025-03-03T11:15:00Z");
    return progress;
  }
  static PlannedTask task(const std::string& name, const TaskProgress& progress) {
    return PlannedTask{.config = {.name = name, .cron = "0 * * * *", .retry_delay = Duration{1}},
                       .schedule = CronExpression::parse("0 * * * *"),
                       .progress = progress,
                       .classification = Classification::added};
  }

  template <typename... Tasks>
  void hold(Tasks... tasks) {
    store = open_sqlite_store(state);
    Plan plan;
    (plan.tasks.push_back(std::move(tasks)), ...);
    store->replace(plan, "one");
  }
  StateStatus read(const char* now) const {
    return read_status(state, Calendar{Zone::utc()}, at(now));
  }
  RecordedTask read_one(const char* now) const { return read(now).tasks.at(0); }

  TemporaryDirectory directory;
  std::string state = directory.file("state.db");
  std::unique_ptr<Store> store;  // while the state is held
};

TEST_F(Status, is_running_while_a_process_holds_the_state) {
  hold(task("a", running()));
  const StateStatus status = read("2025-03-03T11:10:00Z");
  EXPECT_EQ(status.service.answer, HolderStatus::Answer::held);
  ASSERT_EQ(status.tasks.size(), 1U);
  EXPECT_EQ(status.tasks[0].state, State::running);
  EXPECT_EQ(status.tasks[0].reason, Reason::cron);
  EXPECT_EQ(status.tasks[0].pulse, at("2025-03-03T11:00:00Z"));
  EXPECT_EQ(status.tasks[0].last_attempt, at("2025-03-03T11:00:00.250Z"));
  EXPECT_EQ(status.tasks[0].last_success, std::nullopt);
  EXPECT_EQ(status.tasks[0].next_due, at("2025-03-03T12:00:00Z"));
  EXPECT_EQ(status.tasks[0].overdue_since, std::nullopt);
}

TEST_F(Status, is_interrupted_if_no_process_holds_the_state) {
  hold(task("a", running()));
  store.reset();
  const StateStatus status = read("2025-03-03T11:10:00Z");
  EXPECT_EQ(status.service.answer, HolderStatus::Answer::free);
  ASSERT_EQ(status.tasks.size(), 1U);
  EXPECT_EQ(status.tasks[0].state, State::interrupted);
  EXPECT_EQ(status.tasks[0].overdue_since, at("2025-03-03T11:00:00.250Z"));
}

TEST_F(Status, stays_interrupted_until_the_next_daemon_restarts_the_run) {
  TaskProgress progress = running();
  progress.state = TaskState::awaiting_run;
  progress.orphan_pending = true;
  hold(task("a", progress));
  EXPECT_EQ(read_one("2025-03-03T11:10:00Z").state, State::interrupted);
}

TEST_F(Status, shows_the_reason_of_a_first_attempt_only) {
  TaskProgress boot = running();
  boot.pulse = at("2025-03-03T10:00:00Z");
  TaskProgress again = running();
  again.attempt = 2;
  // Removed from the list and added again during its run.
  TaskProgress carried = running();
  carried.first_coming = at("2025-03-03T11:05:00Z");
  hold(task("again", again), task("boot", boot), task("carried", carried));
  const auto tasks = read("2025-03-03T11:10:00Z").tasks;
  ASSERT_EQ(tasks.size(), 3U);
  EXPECT_EQ(tasks[0].reason, std::nullopt);
  EXPECT_EQ(tasks[1].reason, Reason::boot);
  EXPECT_EQ(tasks[2].reason, std::nullopt);
}

TEST_F(Status, shows_the_earlier_of_a_retry_and_a_pulse_as_next_due) {
  hold(task("a", failed()));
  EXPECT_EQ(read_one("2025-03-03T11:10:00Z").next_due, at("2025-03-03T11:15:00Z"));
  EXPECT_EQ(read_one("2025-03-03T11:10:00Z").state, State::awaiting_retry);
  TaskProgress late = failed();
  late.retry_at = at("2025-03-03T12:30:00Z");
  store.reset();
  state = directory.file("other.db");
  hold(task("a", late));
  EXPECT_EQ(read_one("2025-03-03T11:10:00Z").next_due, at("2025-03-03T12:00:00Z"));
}

TEST_F(Status, is_overdue_since_its_first_obligation_but_not_at_once) {
  hold(task("failed", failed()), task("fresh", fresh()));
  const auto overdue = [&](const char* now, std::size_t place) {
    return read(now).tasks.at(place).overdue_since;
  };
  EXPECT_EQ(overdue("2025-03-03T11:15:00.999Z", 0), std::nullopt);
  EXPECT_EQ(overdue("2025-03-03T11:15:01Z", 0), at("2025-03-03T11:15:00Z"));
  EXPECT_EQ(overdue("2025-03-03T14:00:00Z", 0), at("2025-03-03T11:15:00Z"));
  EXPECT_EQ(overdue("2025-03-03T11:00:00Z", 1), std::nullopt);
  EXPECT_EQ(overdue("2025-03-03T14:00:00Z", 1), at("2025-03-03T11:00:00Z"));
}

TEST_F(Status, is_sorted_by_the_names_of_the_tasks) {
  hold(task("b", fresh()), task("a", fresh()), task("B", fresh()));
  const auto tasks = read("2025-03-03T10:30:00Z").tasks;
  ASSERT_EQ(tasks.size(), 3U);
  EXPECT_EQ(tasks[0].name, "B");
  EXPECT_EQ(tasks[1].name, "a");
  EXPECT_EQ(tasks[2].name, "b");
}

}  // namespace
}  // namespace dutiful
