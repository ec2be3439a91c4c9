#include "daemon/history.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/program_in_test.h"
#include "store/sqlite/database.h"
#include "store/sqlite/sqlite_store.h"
#include "support/temporary_directory.h"

namespace dutiful {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// A state whose history has one run of task "a".
class HistoryCommand : public testing::Test {
 protected:
  HistoryCommand() { database.execute("PRAGMA synchronous = OFF"); }

  void change_run(const std::string& change) {
    database.execute(("UPDATE run SET " + change).c_str());
  }
  [[nodiscard]] Result history(const std::string& form = "--count=20") const {
    return dutiful({"history", form, "--state", state});
  }

  TemporaryDirectory directory;
  std::string state = directory.file("state.db");

 private:
  [[nodiscard]] std::string made_history() const {
    (void)open_sqlite_store(state);
    HistoryEntry entry;
    entry.result.run.task = "a";
    entry.result.exit_status = 0;
    HistoryWriter{{.state = state}}.add(entry);
    return history_of(state);
  }
  Database database{made_history()};
};

TEST_F(HistoryCommand, rejects_a_duration_that_cannot_be_negated) {
  change_run("duration_ms = -9223372036854775807 - 1");
  const Result shown = history();
  EXPECT_EQ(shown.status, 2);
  EXPECT_THAT(shown.err,
              AllOf(HasSubstr("is damaged: the duration_ms of a run is -9223372036854775808"),
                    HasSubstr("delete it or move it away, and the next run starts a new history")));
}

// X4: whatever a column holds, the run is shown or the file is rejected.
TEST_F(HistoryCommand, survives_any_value_in_any_column) {
  const std::vector<std::string> columns{"task",
                                         "reason",
                                         "pulse",
                                         "attempt",
                                         "scheduled",
                                         "started",
                                         "duration_ms",
                                         "exit_status",
                                         "signal",
                                         "spawn_error",
                                         "past_time_limit",
                                         "forced",
                                         "user_ms",
                                         "system_ms",
                                         "memory_max",
                                         "output",
                                         "output_total",
                                         "process"};
  const std::vector<std::string> values{"NULL",
                                        "0",
                                        "-1",
                                        "4294967296",
                                        "253402300800000",  // the year 10000
                                        "-62135596800001",  // the year 0
                                        "9223372036854775807",
                                        "-9223372036854775807 - 1",
                                        "1e300",
                                        "-1e300",
                                        "''",
                                        "'12'",
                                        "'words'",
                                        "x'00ff0a1b5b41'",
                                        "CAST(x'00ff0a1b5b41' AS TEXT)",
                                        "zeroblob(100000)"};
  int shown = 0;
  int refused = 0;
  for (const std::string& column : columns) {
    for (const std::string& value : values) {
      SCOPED_TRACE(column);
      SCOPED_TRACE(value);
      try {
        change_run(column + " = " + value);
      } catch (const DatabaseError&) {
        continue;  // NOT NULL
      }
      const Result text = history();
      const Result json = history("--json");
      EXPECT_EQ(text.status, json.status);
      if (text.status == 0) {
        ++shown;
        EXPECT_THAT(text.out, testing::Not(HasSubstr("\x1b")));
      } else {
        ++refused;
        EXPECT_THAT(text.err, HasSubstr("is damaged"));
      }
      change_run(
          "task = 'a', reason = 'cron', pulse = 0, attempt = 1, scheduled = 0,"
          " started = 0, duration_ms = 1, exit_status = 0, signal = NULL, spawn_error = '',"
          " past_time_limit = 0, forced = 0, user_ms = 0, system_ms = 0, memory_max = 0,"
          " output = x'', output_total = 0, process = 1");
    }
  }
  EXPECT_GT(shown, 20);
  EXPECT_GT(refused, 100);
}

// A state with runs of the tasks "a" and "b" before noon on 1 June 2025.
class FilteredHistory : public testing::Test {
 protected:
  FilteredHistory() {
    (void)open_sqlite_store(state);
    HistoryWriter writer{{.state = state}};
    writer.add(run("a", "2025-06-01T08:00:00Z", 0));
    writer.add(run("b", "2025-06-01T09:00:00Z", 3));
    writer.add(run("a", "2025-06-01T10:00:00Z", 1));
    writer.add(run("b", "2025-06-01T11:00:00Z", 0));
  }
  static HistoryEntry run(const std::string& task, const char* started, int status) {
    HistoryEntry entry;
    entry.result.run.task = task;
    entry.result.run.attempt = 1;
    entry.result.run.started = at(started);
    entry.result.run.pulse = at(started);
    entry.result.exit_status = status;
    entry.result.process = 4711;
    entry.result.output = "1\n2\n3\n4\n5\n6\n7\n";
    entry.result.output_total = entry.result.output.size();
    return entry;
  }
  // The ids of the runs that are shown.
  [[nodiscard]] std::vector<int> ids(std::vector<std::string> options) const {
    options.insert(options.begin(), {"history", "--json", "--state", state});
    const Result shown = dutiful(options);
    EXPECT_EQ(shown.status, 0) << shown.err;
    std::vector<int> found;
    for (const auto& run : nlohmann::json::parse(shown.out)) found.push_back(run["id"]);
    return found;
  }
  [[nodiscard]] Result text(std::vector<std::string> options) const {
    options.insert(options.begin(), {"history", "--state", state});
    return dutiful(options);
  }

  TemporaryDirectory directory;
  std::string state = directory.file("state.db");
};

TEST_F(FilteredHistory, shows_failed_runs_only) {
  EXPECT_THAT(ids({"--failed"}), testing::ElementsAre(3, 2));
  EXPECT_THAT(ids({"--failed", "a"}), testing::ElementsAre(3));
  EXPECT_THAT(ids({"--failed", "--count", "1"}), testing::ElementsAre(3));
}

TEST_F(FilteredHistory, shows_runs_since_a_time_or_a_duration_ago) {
  EXPECT_THAT(ids({"--since", "2h"}), testing::ElementsAre(4, 3));
  EXPECT_THAT(ids({"--since", "2025-06-01T08:30:00Z"}), testing::ElementsAre(4, 3, 2));
  EXPECT_THAT(ids({"--since", "2025-06-01T10:30:00+01:00", "b"}), testing::ElementsAre(4));
  EXPECT_THAT(ids({"--since", "1d", "--failed", "b"}), testing::ElementsAre(2));
  EXPECT_THAT(ids({"--since", "1d", "--count", "2"}), testing::ElementsAre(4, 3));
  EXPECT_THAT(text({"--since", "1m"}).out, "no such runs recorded\n");
  const Result refused = text({"--since", "yesterday"});
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, HasSubstr("--since: \"yesterday\" is neither a time nor a duration"));
}

TEST_F(FilteredHistory, is_not_cut_off_at_the_usual_number_if_a_time_is_given) {
  {
    HistoryWriter writer{{.state = state}};
    for (int i = 0; i < 1500; ++i) writer.add(run("c", "2025-06-01T11:30:00Z", 0));
  }
  EXPECT_EQ(ids({}).size(), 20U);
  EXPECT_EQ(ids({"--since", "31m"}).size(), 1500U);
  EXPECT_EQ(ids({"--since", "31m", "--count", "1200"}).size(), 1200U);
}

TEST_F(FilteredHistory, shows_the_last_lines_of_the_output_or_all_of_it) {
  EXPECT_THAT(text({"a", "--count", "1"}).out,
              AllOf(HasSubstr("    …\n    3\n"), testing::Not(HasSubstr("    2\n"))));
  EXPECT_THAT(
      text({"a", "--count", "1", "--full"}).out,
      AllOf(HasSubstr("exit status 1\n    1\n    2\n    3\n"), testing::Not(HasSubstr("…"))));
}

TEST_F(FilteredHistory, knows_a_task_of_which_no_run_matches) {
  EXPECT_EQ(text({"a", "--since", "1m"}).out, "no such runs recorded for task \"a\"\n");
  EXPECT_EQ(text({"unknown", "--since", "1m"}).status, 1);
}

}  // namespace
}  // namespace dutiful
