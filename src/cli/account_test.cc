// dutiful account: what it prints.

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/program_in_test.h"
#include "core/plan.h"
#include "store/sqlite/sqlite_store.h"
#include "support/temporary_directory.h"

namespace dutiful {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// It is noon on 1 June 2025, UTC. The tasks were added on 30 May.
class AccountCommand : public testing::Test {
 protected:
  static PlannedTask task(const std::string& name,
                          const std::string& cron,
                          const Account& account) {
    const Instant last = at("2025-06-01T11:00:00Z");
    return PlannedTask{.config = {.name = name, .cron = cron, .retry_delay = Duration{1}},
                       .schedule = CronExpression::parse(cron),
                       .progress = {.attempt = 1,
                                    .fence = 1,
                                    .pulse = last,
                                    .first_coming = at("2025-05-30T20:30:00Z"),
                                    .served_until = last,
                                    .last_attempt = last,
                                    .last_success = last},
                       .classification = Classification::added,
                       .account = account};
  }

  AccountCommand() {
    const auto store = open_sqlite_store(state);
    Plan plan;
    plan.tasks.push_back(task(
        "backup",
        "0 * * * *",
        {.from = at("2025-06-01T00:00:00Z"), .number = 2, .fates = {.run = 11, .running = 1}}));
    plan.tasks.push_back(
        task("report", "0 6 * * *", {.from = at("2025-05-30T20:30:00Z"), .fates = {.run = 2}}));
    const auto rows = store->replace(plan, "one");
    const std::vector<AccountStretch> ended{
        {{.from = at("2025-05-30T20:30:00Z"), .fates = {.run = 3}}, at("2025-05-31T00:00:00Z")},
        {{.from = at("2025-05-31T00:00:00Z"), .number = 1, .fates = {.run = 4, .down = 20}},
         at("2025-06-01T00:00:00Z")}};
    store->commit(
        std::vector<RowUpdate>{{rows[0], plan.tasks[0].progress, &plan.tasks[0].account, ended}});
  }
  [[nodiscard]] Result account(std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {"account", "--state", state});
    return dutiful(more);
  }

  TemporaryDirectory directory;
  std::string state = directory.file("state.db");
};

TEST_F(AccountCommand, prints_a_line_for_each_task_without_columns_of_zeros) {
  const Result shown = account();
  EXPECT_EQ(shown.err, "");
  EXPECT_EQ(shown.out,
            "TASK    SINCE                PULSES  RUN  STILL RUNNING  DOWN  OWED\n"
            "backup  2025-05-30 20:30:00      40   18              1    20     1\n"
            "report  2025-05-30 20:30:00       2    2              0     0     0\n");
  EXPECT_EQ(shown.status, 0);
}

TEST_F(AccountCommand, prints_the_account_of_one_task_in_sentences) {
  EXPECT_EQ(account({"backup"}).out,
            "backup, every hour, on the hour, since 2025-05-30 20:30:00: 40 pulses\n"
            "  18 run\n"
            "  21 served by a later run: 1 because it was still running, 20 because the daemon was "
            "down\n"
            "  1 owed: not served yet\n");
  EXPECT_EQ(account({"report"}).out,
            "report, at 06:00, every day, since 2025-05-30 20:30:00: 2 pulses\n"
            "  2 run\n");
}

TEST_F(AccountCommand, prints_each_day) {
  EXPECT_EQ(account({"--days"}).out,
            "TASK    DAY                       PULSES  RUN  STILL RUNNING  DOWN  OWED\n"
            "backup  2025-05-30                     3    3              0     0     0\n"
            "backup  2025-05-31                    24    4              0    20     0\n"
            "backup  2025-06-01                    13   11              1     0     1\n"
            "report  2025-05-30 to 2025-06-01       2    2              0     0     0\n");
  EXPECT_THAT(account({"report", "--days"}).out,
              AllOf(StartsWith("report, at 06:00"), HasSubstr("DAY"), Not(HasSubstr("backup"))));
}

TEST_F(AccountCommand, begins_with_the_day_of_a_time_and_says_so) {
  for (const char* since : {"2025-05-31T09:00:00", "2025-05-31T09:00:00Z", "1d"}) {
    SCOPED_TRACE(since);
    EXPECT_THAT(
        account({"backup", "--since", since}).out,
        StartsWith("backup, every hour, on the hour, since 2025-05-31 00:00:00: 37 pulses"));
  }
  const Result wrong = account({"--since", "yesterday"});
  EXPECT_EQ(wrong.status, 2);
  EXPECT_THAT(wrong.err, HasSubstr("--since: \"yesterday\" is neither a time nor a duration"));
}

TEST_F(AccountCommand, prints_json) {
  const auto all = nlohmann::json::parse(account({"--json"}).out);
  ASSERT_EQ(all.size(), 2);
  EXPECT_EQ(all[0]["taskName"], "backup");
  EXPECT_EQ(all[0]["pulses"], 40);
  EXPECT_EQ(all[0]["down"], 20);
  EXPECT_EQ(all[0]["owed"], 1);
  EXPECT_FALSE(all[0].contains("days"));
  EXPECT_EQ(nlohmann::json::parse(account({"--json", "--days"}).out)[0]["days"].size(), 3);
  const auto one = nlohmann::json::parse(account({"--json", "backup"}).out);
  ASSERT_EQ(one.size(), 1);
  EXPECT_EQ(one[0]["days"][1]["down"], 20);
}

TEST_F(AccountCommand, says_that_the_schedule_was_changed_if_the_parts_do_not_add_up) {
  auto store = open_sqlite_store(state);
  auto stored = store->load();
  Plan plan = make_plan({{.name = "backup", .cron = "0 6 * * *", .retry_delay = Duration{1}}},
                        std::move(stored),
                        at("2025-06-01T11:30:00Z"),
                        Calendar{Zone::utc()},
                        Override::keep_history,
                        Runs::are_interrupted);
  store->replace(plan, "two");
  EXPECT_THAT(account({"backup"}).out,
              AllOf(HasSubstr(": 39 pulses\n"),
                    HasSubstr("the schedule was changed in this time; the present one has 2 pulses "
                              "in it\n")));
}

TEST_F(AccountCommand, suggests_the_name_of_a_task) {
  Result shown = account({"bakcup"});
  EXPECT_EQ(shown.status, 1);
  EXPECT_EQ(shown.out, "");
  EXPECT_EQ(shown.err, "dutiful: unknown task \"bakcup\"; did you mean \"backup\"?\n");
  shown = account({"something else"});
  EXPECT_EQ(shown.status, 1);
  EXPECT_EQ(shown.err,
            "dutiful: unknown task \"something else\"; dutiful status lists the tasks\n");
}

TEST_F(AccountCommand, says_that_a_state_has_no_tasks) {
  state = directory.file("empty.db");
  (void)open_sqlite_store(state);
  EXPECT_EQ(account().out, "no tasks\n");
  EXPECT_EQ(account({"--json"}).out, "[]\n");
}

}  // namespace
}  // namespace dutiful
