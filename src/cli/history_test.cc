#include "daemon/history.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
                                         "output_total"};
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
          " output = x'', output_total = 0");
    }
  }
  EXPECT_GT(shown, 20);
  EXPECT_GT(refused, 100);
}

}  // namespace
}  // namespace dutiful
