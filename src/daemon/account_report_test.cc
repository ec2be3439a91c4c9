#include "daemon/account_report.h"

#include <filesystem>
#include <memory>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <dutiful/errors.h>

#include "core/plan.h"
#include "daemon/account_json.h"
#include "store/sqlite/database.h"
#include "store/sqlite/sqlite_store.h"
#include "support/temporary_directory.h"
#include "support/times.h"

namespace dutiful {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

// Hourly tasks that were added at 10:00:30 on Monday, 3 March 2025, when their account began.
class AccountReport : public testing::Test {
 protected:
  static TaskProgress served(const char* until) {
    return {.state = TaskState::awaiting_run,
            .attempt = 1,
            .fence = 1,
            .pulse = at("2025-03-03T10:00:00Z"),
            .first_coming = at("2025-03-03T10:00:30Z"),
            .served_until = at(until),
            .last_attempt = at(until),
            .last_success = at(until)};
  }
  static PlannedTask task(const std::string& name,
                          const TaskProgress& progress,
                          const Account& account,
                          const std::string& cron = "0 * * * *") {
    return PlannedTask{.config = {.name = name, .cron = cron, .retry_delay = Duration{1}},
                       .schedule = CronExpression::parse(cron),
                       .progress = progress,
                       .classification = Classification::added,
                       .account = account};
  }
  // Served up to 12:00 on Thursday. No daemon ran on Wednesday.
  static PlannedTask hourly(const std::string& name = "a") {
    return task(name,
                served("2025-03-06T12:00:00Z"),
                {.from = at("2025-03-06T00:00:00Z"), .number = 3, .fates = {.run = 13}});
  }
  static std::vector<AccountStretch> ended() {
    return {{{.from = at("2025-03-03T10:00:00Z"), .fates = {.run = 12, .running = 2}},
             at("2025-03-04T00:00:00Z")},
            {{.from = at("2025-03-04T00:00:00Z"), .number = 1, .fates = {.run = 24}},
             at("2025-03-05T00:00:00Z")},
            {{.from = at("2025-03-05T00:00:00Z"), .number = 2, .fates = {.run = 1, .down = 23}},
             at("2025-03-06T00:00:00Z")}};
  }

  template <typename... Tasks>
  void record(Tasks... tasks) {
    const auto store = open_sqlite_store(state);
    Plan plan;
    (plan.tasks.push_back(std::move(tasks)), ...);
    rows = store->replace(plan, "one");
    std::vector<RowUpdate> updates;
    const auto closed = ended();
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const PlannedTask& task = plan.tasks[i];
      if (task.account.number == 0) continue;
      updates.push_back({rows[i], task.progress, &task.account, closed});
    }
    store->commit(updates);
  }
  [[nodiscard]] std::vector<TaskAccount> read(AccountQuery query = {},
                                              const char* now = "2025-03-06T12:30:00Z",
                                              const char* zone = "UTC") const {
    return read_account(state, Calendar{Zone::load(zone)}, query, at(now));
  }
  [[nodiscard]] TaskAccount read_one(AccountQuery query = {},
                                     const char* now = "2025-03-06T12:30:00Z",
                                     const char* zone = "UTC") const {
    return read(std::move(query), now, zone).at(0);
  }
  void change(const std::string& statement) const { Database{state}.execute(statement.c_str()); }

  TemporaryDirectory directory;
  std::string state = directory.file("state.db");
  std::vector<std::int64_t> rows;
};

TEST_F(AccountReport, adds_up_all_days) {
  record(hourly());
  const TaskAccount account = read_one();
  EXPECT_EQ(account.name, "a");
  EXPECT_EQ(account.cron, "0 * * * *");
  EXPECT_EQ(account.from, at("2025-03-03T10:00:00Z"));
  EXPECT_EQ(account.until, at("2025-03-06T12:30:00Z"));
  EXPECT_EQ(account.fates, (PulseFates{.run = 50, .running = 2, .down = 23}));
  EXPECT_EQ(account.owed, 0);
  EXPECT_EQ(account.unknown, 0);
  EXPECT_EQ(account.pulses, 75);
  EXPECT_EQ(account.sum(), 75);
  EXPECT_THAT(account.stretches, IsEmpty());
}

TEST_F(AccountReport, counts_what_is_not_served_yet_as_owed) {
  record(hourly());
  const TaskAccount account = read_one({}, "2025-03-06T15:00:00Z");
  EXPECT_EQ(account.owed, 3);
  EXPECT_EQ(account.pulses, 78);
  EXPECT_EQ(account.sum(), 78);
}

// K2
TEST_F(AccountReport, counts_the_minute_of_a_boot_start_that_is_pending_as_owed) {
  record(task("a",
              {.boot_pending = true,
               .first_coming = at("2025-03-03T10:00:30Z"),
               .served_until = at("2025-03-03T10:00:30Z")},
              {.from = at("2025-03-03T10:00:00Z")}));
  const TaskAccount account = read_one({}, "2025-03-03T11:30:00Z");
  EXPECT_EQ(account.owed, 2);
  EXPECT_EQ(account.pulses, 2);
  EXPECT_EQ(account.sum(), 2);
}

TEST_F(AccountReport, begins_with_the_stretch_that_contains_the_time_asked_for) {
  record(hourly());
  const auto since = [&](const char* instant) {
    return read_one({.since = at(instant), .with_stretches = true});
  };
  EXPECT_EQ(since("2025-03-05T00:00:00Z").from, at("2025-03-05T00:00:00Z"));
  EXPECT_EQ(since("2025-03-04T23:59:59.999Z").from, at("2025-03-04T00:00:00Z"));
  EXPECT_EQ(since("2025-03-07T00:00:00Z").from, at("2025-03-06T00:00:00Z"));
  const TaskAccount account = since("2025-03-05T17:00:00Z");
  EXPECT_EQ(account.fates, (PulseFates{.run = 14, .down = 23}));
  EXPECT_EQ(account.pulses, 37);
  EXPECT_EQ(account.sum(), 37);
  EXPECT_THAT(
      account.stretches,
      ElementsAre(ended()[2], AccountStretch{hourly().account, at("2025-03-06T12:30:00Z")}));
}

// Stretches are forgotten after a while.
TEST_F(AccountReport, does_not_know_pulses_from_before_the_account) {
  record(hourly());
  change("DELETE FROM account WHERE number = 0");
  TaskAccount account = read_one();
  EXPECT_EQ(account.from, at("2025-03-03T10:00:30Z"));  // it was added then
  EXPECT_EQ(account.unknown, 13);
  EXPECT_EQ(account.pulses, 74);
  EXPECT_EQ(account.sum(), 74);
  account = read_one({.since = at("2025-03-03T20:00:00Z")});
  EXPECT_EQ(account.from, at("2025-03-03T20:00:00Z"));
  EXPECT_EQ(account.unknown, 4);
  EXPECT_EQ(account.sum(), account.pulses);
  account = read_one({.since = at("2025-03-01T20:00:00Z")});
  EXPECT_EQ(account.from, at("2025-03-03T10:00:30Z"));
}

TEST_F(AccountReport, knows_nothing_of_a_state_of_an_earlier_version) {
  for (const char* version : {"/state-v1.db", "/state-v2.db"}) {
    SCOPED_TRACE(version);
    std::filesystem::copy_file(DUTIFUL_TEST_DATA + std::string{version},
                               state,
                               std::filesystem::copy_options::overwrite_existing);
    const auto records = read_sqlite_state(state);
    ASSERT_FALSE(records.empty());
    const auto accounts = read({.with_stretches = true}, "2026-11-16T12:00:00Z");
    ASSERT_THAT(accounts, SizeIs(records.size()));
    for (const TaskAccount& account : accounts) {
      EXPECT_EQ(account.fates, PulseFates{});
      EXPECT_EQ(account.sum(), account.pulses) << account.name;
      EXPECT_THAT(account.stretches, SizeIs(1));
    }
  }
}

// As the newest version finds it, until the next start.
TEST_F(AccountReport, knows_only_what_is_owed_if_the_account_has_not_begun) {
  record(task("a", served("2025-03-06T12:00:00Z"), {}));
  const TaskAccount account = read_one({}, "2025-03-06T13:30:00Z");
  EXPECT_EQ(account.from, at("2025-03-03T10:00:30Z"));
  EXPECT_EQ(account.unknown, 74);
  EXPECT_EQ(account.owed, 1);
  EXPECT_EQ(account.pulses, 75);
  EXPECT_EQ(account.sum(), 75);
}

// T3: the clocks of New York skip 02:00 to 03:00 on 9 March.
TEST_F(AccountReport, counts_minutes_that_the_clocks_jump_over_beside_the_pulses) {
  record(task("a",
              served("2025-03-10T12:00:00Z"),
              {.from = at("2025-03-08T05:00:00Z"), .fates = {.run = 10}},
              "15,30 2,4 * * *"));
  const TaskAccount account =
      read_one({.since = at("2025-03-08T05:00:00Z")}, "2025-03-10T12:30:00Z", "America/New_York");
  EXPECT_EQ(account.jumped, 2);
  EXPECT_EQ(account.pulses, 10);
  EXPECT_EQ(account.sum(), 10);
}

// T7
TEST_F(AccountReport, keeps_stretches_together_that_the_clock_went_through_twice) {
  // At 12:00 on Thursday the clock was set back to 12:00 on Tuesday; it is 15:00 there now.
  record(task("a",
              served("2025-03-04T15:00:00Z"),
              {.from = at("2025-03-04T12:00:00.001Z"),
               .number = 3,
               .fates = {.run = 13 + 3},
               .recurred = 48}));
  TaskAccount account = read_one({.since = at("2025-03-05T12:00:00Z"), .with_stretches = true},
                                 "2025-03-04T15:30:00Z");
  EXPECT_EQ(account.from, at("2025-03-04T00:00:00Z"));
  EXPECT_THAT(account.stretches, SizeIs(3));
  EXPECT_EQ(account.pulses, 16);
  EXPECT_EQ(account.sum(), 16);
  change("DELETE FROM account WHERE number < 2");
  account = read_one({.since = at("2025-03-05T12:00:00Z")}, "2025-03-04T15:30:00Z");
  EXPECT_EQ(account.from, at("2025-03-04T12:00:00.001Z"));
  EXPECT_EQ(account.unknown, 11);
  EXPECT_EQ(account.sum(), account.pulses);
}

TEST_F(AccountReport, ends_with_the_last_pulse_served_if_the_clock_is_behind_it) {
  record(hourly());
  const TaskAccount account = read_one({}, "2025-03-06T10:30:00Z");
  EXPECT_EQ(account.until, at("2025-03-06T12:00:00Z"));
  EXPECT_EQ(account.pulses, 75);
  EXPECT_EQ(account.sum(), 75);
}

TEST_F(AccountReport, is_sorted_by_the_names_of_the_tasks) {
  record(hourly("b"), task("a", served("2025-03-06T12:00:00Z"), {}), hourly("B"));
  const auto accounts = read({.with_stretches = true});
  ASSERT_THAT(accounts, SizeIs(3));
  EXPECT_EQ(accounts[0].name, "B");
  EXPECT_THAT(accounts[0].stretches, SizeIs(4));
  EXPECT_EQ(accounts[1].name, "a");
  EXPECT_THAT(accounts[1].stretches, SizeIs(1));
  EXPECT_EQ(accounts[2].name, "b");
  EXPECT_THAT(accounts[2].stretches, SizeIs(4));
}

TEST_F(AccountReport, is_about_one_task_if_asked) {
  record(hourly("b"), task("a", served("2025-03-06T12:00:00Z"), {}), hourly("c"));
  const auto accounts = read({.task = "c", .with_stretches = true});
  ASSERT_THAT(accounts, SizeIs(1));
  EXPECT_EQ(accounts[0].name, "c");
  EXPECT_THAT(accounts[0].stretches, SizeIs(4));
  EXPECT_THAT(read({.task = "d"}), IsEmpty());
}

TEST_F(AccountReport, is_read_by_page) {
  record(hourly("b"), hourly("a"), hourly("c"));
  const auto first = read({.with_stretches = true, .limit = 2});
  ASSERT_THAT(first, SizeIs(2));
  EXPECT_EQ(first[0].name, "a");
  EXPECT_EQ(first[1].name, "b");
  EXPECT_THAT(first[1].stretches, SizeIs(4));
  const auto second = read({.with_stretches = true, .after = "b", .limit = 2});
  ASSERT_THAT(second, SizeIs(1));
  EXPECT_EQ(second[0].name, "c");
  EXPECT_THAT(second[0].stretches, SizeIs(4));
  EXPECT_THAT(read({.after = "c"}), IsEmpty());
  EXPECT_THAT(read({.limit = 3}), SizeIs(3));
}

TEST_F(AccountReport, reads_while_another_process_writes) {
  record(hourly());
  Database writer{state};
  const Transaction transaction{writer};
  writer.execute("DELETE FROM account");
  EXPECT_EQ(read_one().sum(), 75);
}

// A task whose record is damaged is due when it is registered again (P7).
TEST_F(AccountReport, needs_no_schedule_for_what_is_recorded) {
  record(hourly());
  change("UPDATE task SET cron = 'every day'");
  const TaskAccount account = read_one();
  EXPECT_EQ(account.fates.total(), 75);
  EXPECT_EQ(account.pulses, 75);
}

// P7
TEST_F(AccountReport, rejects_damaged_stretches) {
  for (const char* column : {"begins", "ends", "pulses_run", "pulses_recurred", "number"}) {
    for (const char* value : {"-1", "'words'", "9223372036854775807", "1e300", "x'00'"}) {
      SCOPED_TRACE(column);
      SCOPED_TRACE(value);
      std::filesystem::remove(state);
      record(hourly());
      change(std::string{"UPDATE account SET "} + column + " = " + value + " WHERE number = 1");
      // One millisecond before 1970 is an instant like any other.
      const std::string name = column;
      if (std::string{value} == "-1" && (name == "begins" || name == "ends")) {
        EXPECT_NO_THROW((void)read());
      } else {
        EXPECT_THROW((void)read(), TaskTryDeserializeError);
      }
    }
  }
}

TEST_F(AccountReport, is_written_as_json) {
  record(hourly());
  const auto json = json_of(read_one({.since = at("2025-03-06T00:00:00Z"), .with_stretches = true},
                                     "2025-03-06T13:30:00Z"));
  EXPECT_EQ(json.dump(),
            R"({"taskName":"a","cronExpression":"0 * * * *","from":"2025-03-06T00:00:00.000Z",)"
            R"("until":"2025-03-06T13:30:00.000Z","pulses":14,"run":13,"running":0,"down":0,)"
            R"("asleep":0,"limit":0,"store":0,"retry":0,"orphan":0,"owed":1,"unknown":0,)"
            R"("recurred":0,"jumped":0,"days":[{"from":"2025-03-06T00:00:00.000Z",)"
            R"("until":"2025-03-06T13:30:00.000Z","run":13,"running":0,"down":0,"asleep":0,)"
            R"("limit":0,"store":0,"retry":0,"orphan":0,"recurred":0}]})");
  EXPECT_FALSE(json_of(read_one()).contains("days"));
}

}  // namespace
}  // namespace dutiful
