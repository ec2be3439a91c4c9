#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/program_in_test.h"
#include "daemon/history.h"
#include "store/sqlite/sqlite_store.h"
#include "support/temporary_directory.h"

namespace dutiful {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// A state with hourly tasks that were served at 11:59, a minute before now. It is held while
// `store` lives.
class StatusCommand : public testing::Test {
 protected:
  static PlannedTask task(const std::string& name) {
    PlannedTask made{.config = {.name = name, .cron = "59 * * * *", .retry_delay = Duration{1}},
                     .schedule = CronExpression::parse("59 * * * *"),
                     .progress = {.first_coming = at("2025-06-01T08:00:00Z")},
                     .classification = Classification::added};
    TaskProgress& progress = made.progress;
    progress.attempt = 1;
    progress.fence = 1;
    progress.pulse = at("2025-06-01T11:59:00Z");
    progress.last_attempt = progress.served_until = at("2025-06-01T11:59:00Z");
    return made;
  }
  static PlannedTask succeeded(const std::string& name) {
    PlannedTask made = task(name);
    made.progress.last_failure = at("2025-06-01T10:59:01Z");
    made.progress.last_success = at("2025-06-01T11:59:01Z");
    return made;
  }
  static PlannedTask failed(const std::string& name) {
    PlannedTask made = task(name);
    made.progress.state = TaskState::awaiting_retry;
    made.progress.last_success = at("2025-06-01T09:59:01Z");
    made.progress.last_failure = at("2025-06-01T11:59:01Z");
    made.progress.retry_at = at("2025-06-01T12:30:00Z");
    return made;
  }
  // Since 10:59, which is an hour and a minute ago.
  static PlannedTask overdue(const std::string& name) {
    PlannedTask made = succeeded(name);
    made.progress.served_until = at("2025-06-01T10:00:00Z");
    return made;
  }
  template <typename... Tasks>
  void hold(Tasks... tasks) {
    store = open_sqlite_store(state);
    Plan plan;
    (plan.tasks.push_back(std::move(tasks)), ...);
    store->replace(plan, "one");
  }
  static HistoryEntry run(const std::string& name, int status) {
    HistoryEntry entry;
    entry.result.run.task = name;
    entry.result.run.attempt = 1;
    entry.result.run.started = at("2025-06-01T11:59:00Z");
    entry.result.duration = std::chrono::milliseconds{1250};
    entry.result.exit_status = status;
    if (status != 0) entry.result.output = "cannot connect\n";
    return entry;
  }
  void add(const HistoryEntry& entry) const { HistoryWriter{{.state = state}}.add(entry); }

  [[nodiscard]] Result status(std::vector<std::string> options = {}) const {
    options.insert(options.begin(), {"status", "--state", state});
    return dutiful(options);
  }
  [[nodiscard]] Result check(std::vector<std::string> options = {}) const {
    options.insert(options.begin(), "--check");
    return status(options);
  }

  TemporaryDirectory directory;
  std::string state = directory.file("state.db");
  std::unique_ptr<Store> store;
};

TEST_F(StatusCommand, shows_the_duration_of_the_last_run_and_the_error_of_a_failing_task) {
  hold(failed("a"), succeeded("b"), task("c"));
  add(run("b", 7));
  add(run("b", 0));
  add(run("a", 3));
  EXPECT_THAT(status().out,
              AllOf(HasSubstr("  TOOK   LAST SUCCESS "),
                    HasSubstr("  1.2 s  2025"),
                    HasSubstr("\n    exit status 3: cannot connect\nb  "),
                    Not(HasSubstr("exit status 7"))));  // it has succeeded since

  const auto tasks = nlohmann::json::parse(status({"--json"}).out);
  EXPECT_EQ(tasks[0]["lastResult"], "failed");
  EXPECT_EQ(tasks[0]["lastDurationMs"], 1250);
  EXPECT_EQ(tasks[0]["lastError"], "exit status 3: cannot connect");
  EXPECT_EQ(tasks[1]["lastResult"], "succeeded");
  EXPECT_EQ(tasks[1]["lastDurationMs"], 1250);
  EXPECT_EQ(tasks[1]["lastError"], "exit status 7: cannot connect");
  for (const char* field : {"lastResult", "lastDurationMs", "lastError"}) {
    EXPECT_TRUE(tasks[2][field].is_null()) << field;
  }
}

TEST_F(StatusCommand, is_shown_without_a_history_that_can_be_read) {
  hold(failed("a"));
  const Result without = status();
  EXPECT_EQ(without.status, 0);
  EXPECT_EQ(without.err, "");
  EXPECT_THAT(without.out, HasSubstr("failed, retry at"));

  std::ofstream{history_of(state)} << std::string(5000, 'x');
  const Result damaged = status();
  EXPECT_EQ(damaged.status, 0);
  EXPECT_EQ(damaged.out, without.out);
  EXPECT_THAT(damaged.err, HasSubstr("is damaged"));
  EXPECT_TRUE(nlohmann::json::parse(status({"--json"}).out)[0]["lastError"].is_null());
}

TEST_F(StatusCommand, check_says_ok_if_a_daemon_holds_the_state_and_all_is_well) {
  hold(succeeded("a"), task("b"));
  const Result checked = check();
  EXPECT_EQ(checked.status, 0);
  EXPECT_EQ(checked.out, "ok: 2 tasks\n");
  EXPECT_EQ(check({"--json"}).out, "{\"ok\":true,\"reason\":null,\"failing\":[],\"overdue\":[]}\n");
}

TEST_F(StatusCommand, check_names_the_tasks_that_fail) {
  PlannedTask retrying = failed("b");
  retrying.progress.state = TaskState::running;
  retrying.progress.attempt = 2;
  retrying.progress.retry_at = no_instant;
  PlannedTask hopeless = failed("c");
  hopeless.progress.last_success = no_instant;
  hold(succeeded("a"), std::move(retrying), std::move(hopeless));
  const Result checked = check();
  EXPECT_EQ(checked.status, 1);
  EXPECT_THAT(checked.out,
              AllOf(testing::StartsWith("2 tasks are failing: b (no success since 2025-06-01 "),
                    testing::EndsWith(", c (has never succeeded)\n")));
  EXPECT_EQ(checked.err, "");
  EXPECT_EQ(check({"--allow", "failing"}).status, 0);
  EXPECT_EQ(check({"--allow", "overdue"}).status, 1);
  const auto json = nlohmann::json::parse(check({"--json"}).out);
  EXPECT_EQ(json["ok"], false);
  EXPECT_THAT(json["reason"].get<std::string>(), testing::StartsWith("2 tasks are failing: b"));
  EXPECT_EQ(json["failing"], (std::vector<std::string>{"b", "c"}));
}

TEST_F(StatusCommand, check_names_only_the_first_of_many_tasks) {
  hold(failed("a"), failed("b"), failed("c"), failed("d"), failed("e"));
  EXPECT_THAT(check().out,
              AllOf(HasSubstr("5 tasks are failing: a ("), HasSubstr(" and 2 more\n")));
}

TEST_F(StatusCommand, check_reports_tasks_that_are_overdue_for_too_long) {
  hold(overdue("a"), failed("b"));
  EXPECT_THAT(check({"--allow", "failing"}).out,
              testing::StartsWith("1 task is overdue: a (since 2025-06-01 "));
  EXPECT_THAT(check().out, HasSubstr("); 1 task is overdue: a ("));
  EXPECT_EQ(check({"--allow", "failing", "--max-overdue", "1h"}).status, 1);
  EXPECT_EQ(check({"--allow", "failing", "--max-overdue", "61m"}).status, 0);
  EXPECT_EQ(check({"--allow", "failing,overdue"}).status, 0);
}

TEST_F(StatusCommand, check_fails_if_no_daemon_holds_the_state) {
  hold(succeeded("a"));
  store.reset();
  const Result stopped = check();
  EXPECT_EQ(stopped.status, 1);
  EXPECT_EQ(stopped.out, "no daemon is running on this state\n");
  EXPECT_EQ(check({"--allow", "failing,overdue"}).status, 1);

  const Result missing = dutiful({"status", "--check", "--state", directory.file("none.db")});
  EXPECT_EQ(missing.status, 1);
  EXPECT_THAT(missing.out, HasSubstr("does not exist"));
  EXPECT_EQ(missing.err, "");
}

TEST_F(StatusCommand, check_rejects_wrong_options) {
  hold();
  EXPECT_EQ(check({"--allow", "failure"}).status, 2);
  EXPECT_EQ(check({"--max-overdue", "soon"}).status, 2);
  const Result without = status({"--max-overdue", "5m"});
  EXPECT_EQ(without.status, 2);
  EXPECT_THAT(without.err, HasSubstr("--max-overdue is for --check; add it"));
}

}  // namespace
}  // namespace dutiful
