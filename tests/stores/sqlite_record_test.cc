// P4, P7: records that are damaged, contradict themselves or cannot be written.

#include <initializer_list>

#include "stores/sqlite_in_test.h"

namespace dutiful {
namespace {

// The message of the innermost cause.
std::string cause_of(const Error& error) {
  try {
    if (error.cause() == nullptr) return error.what();
    std::rethrow_exception(error.cause());
  } catch (const Error& cause) {
    return cause_of(cause);
  } catch (const std::exception& cause) {
    return cause.what();
  }
}

// P7: the error is precise, and nothing is overwritten.
TEST_F(Sqlite, reports_a_damaged_record) {
  make_state();
  tamper("UPDATE progress SET state = 7 WHERE task = 1");
  EXPECT_EQ(load_error<TaskInvalidValueError>(),
            "Invalid value for field 'state': 7 is not between 0 and 2 (task \"a\")");
  tamper("UPDATE progress SET state = 'running' WHERE task = 1");
  EXPECT_EQ(load_error<TaskInvalidTypeError>(),
            "Invalid type for field 'state': expected integer, got text (task \"a\")");
  tamper("UPDATE progress SET state = 0, last_attempt = 1.5 WHERE task = 1");
  EXPECT_EQ(load_error<TaskInvalidTypeError>(),
            "Invalid type for field 'lastAttemptAt': expected integer, got real (task \"a\")");
  tamper("DELETE FROM progress WHERE task = 1");
  EXPECT_EQ(load_error<TaskInvalidStructureError>(),
            "A task has no progress: its record is incomplete (task \"a\")");
  tamper("UPDATE task SET name = x'00' WHERE id = 1");
  EXPECT_EQ(load_error<TaskInvalidTypeError>(),
            "Invalid type for field 'name': expected text, got blob");
}

// E: the details name the task too.
TEST_F(Sqlite, names_the_task_of_a_damaged_record) {
  make_state();
  tamper(
      "UPDATE task SET name = 'say \"hi\"' WHERE id = 2; UPDATE progress SET state = 7 WHERE task "
      "= 2");
  try {
    (void)open_sqlite_store(path)->load();
    FAIL();
  } catch (const TaskTryDeserializeError& error) {
    EXPECT_EQ(error.task_name(), "say \"hi\"");
    EXPECT_STREQ(error.what(),
                 "Invalid value for field 'state': 7 is not between 0 and 2 (task \"say "
                 "\\\"hi\\\"\")");
    EXPECT_EQ(error.fields().back().name, "taskName");
  }
}

// P7: a progress without a state is not a task without a progress.
TEST_F(Sqlite, distinguishes_a_missing_field_from_a_missing_progress) {
  make_state();
  tamper_unchecked("UPDATE progress SET state = NULL WHERE task = 1");
  EXPECT_EQ(load_error<TaskMissingFieldError>(), "Missing required field: state (task \"a\")");
  tamper_unchecked("UPDATE progress SET state = 0, scheduler = NULL WHERE task = 1");
  EXPECT_EQ(load_error<TaskMissingFieldError>(),
            "Missing required field: schedulerIdentifier (task \"a\")");
}

TEST_F(Sqlite, reports_the_type_of_a_damaged_scheduler) {
  make_state();
  tamper("UPDATE progress SET scheduler = 'x' WHERE task = 1");
  EXPECT_EQ(load_error<TaskInvalidTypeError>(),
            "Invalid type for field 'schedulerIdentifier': expected integer, got text (task "
            "\"a\")");
  tamper(
      "UPDATE progress SET scheduler = 1 WHERE task = 1; UPDATE scheduler SET identifier = x'00'");
  EXPECT_EQ(load_error<TaskInvalidTypeError>(),
            "Invalid type for field 'schedulerIdentifier': expected text, got blob (task \"a\")");
}

// P7: each field is valid, but no scheduler wrote them together.
TEST_F(Sqlite, reports_a_record_that_contradicts_itself) {
  struct Row {
    const char* change;
    const char* message;
  };
  const std::string ran = "last_attempt = 1, pulse = 1, attempt = 1, fence = 1";
  for (const Row& row : std::initializer_list<Row>{
           {"first_coming = NULL", "Missing required field: firstComing"},
           {"served_until = NULL", "Missing required field: servedUntil"},
           {"scheduler = 99", "Missing required field: schedulerIdentifier"},
           {"state = 1", "Missing required field: lastAttemptAt"},
           {"state = 2", "Missing required field: lastAttemptAt"},
           {"orphan_pending = 1", "Missing required field: lastAttemptAt"},
           {"last_success = 1", "Missing required field: lastAttemptAt"},
           {"last_failure = 1", "Missing required field: lastAttemptAt"},
           {"attempt = 1", "Missing required field: lastAttemptAt"},
           {"pulse = 1", "Missing required field: lastAttemptAt"},
           {"fence = 1", "Missing required field: lastAttemptAt"},
           {"last_attempt = 1, attempt = 1", "Missing required field: pulse"},
           {"last_attempt = 1, pulse = 1",
            "Invalid value for field 'attempt': 0 is not an attempt number, but the task has run"},
           {"last_attempt = 1, pulse = 1, attempt = 1",
            "Invalid value for field 'fence': 0 is not a fence, but the task has run"},
           {"fence = -1",
            "Invalid value for field 'fence': -1 is not between 0 and 4611686018427387904"},
           {"RAN, recurrence = 2",
            "Invalid value for field 'recurrence': 2 is larger than the fence of the newest run"},
           {"recurs_until = 9223372036854775807",
            "Invalid value for field 'recursUntil': 9223372036854775807 ms is outside the years 1 "
            "to "
            "9999"},
           {"retries = 1",
            "Invalid value for field 'retryCount': 1 is not less than the number of attempts, 0"},
           {"RAN, retries = 1",
            "Invalid value for field 'retryCount': 1 is not less than the number of attempts, 1"},
           {"RAN, state = 2, last_failure = 1", "Missing required field: pendingRetryUntil"},
           {"RAN, state = 2, pending_retry_until = 1", "Missing required field: lastFailureAt"},
           {"RAN, state = 1, pending_retry_until = 1",
            "Invalid value for field 'pendingRetryUntil': the task is not awaiting a retry"},
           {"pending_retry_until = 1",
            "Invalid value for field 'pendingRetryUntil': the task is not awaiting a retry"},
           {"RAN, state = 1, orphan_pending = 1",
            "Invalid value for field 'orphanPending': it must be 0 unless the task awaits a "
            "run"},
           {"served_until = 9223372036854775807",
            "Invalid value for field 'servedUntil': 9223372036854775807 ms is outside the years 1 "
            "to 9999"},
       }) {
    SCOPED_TRACE(row.change);
    path = directory.file(std::to_string(std::hash<std::string>{}(row.change)));
    make_state();
    std::string change = row.change;
    if (change.starts_with("RAN")) change.replace(0, 3, ran);
    tamper(("UPDATE progress SET " + change + " WHERE task = 1").c_str());
    const std::string before = bytes();
    EXPECT_EQ(load_error<TaskTryDeserializeError>(), std::string{row.message} + " (task \"a\")");
    EXPECT_EQ(bytes(), before);
  }
}

// P8: an unreadable counter is not restarted.
TEST_F(Sqlite, reports_a_damaged_fence) {
  make_state();
  tamper("UPDATE scheduler SET fence = 'x'");
  EXPECT_EQ(load_error<TaskInvalidTypeError>(),
            "Invalid type for field 'fence': expected integer, got text");
}

// P4: the error names the task and keeps the cause, and the state is unchanged.
TEST_F(Sqlite, names_the_task_that_cannot_be_written) {
  make_state();
  const auto store = open_sqlite_store(path);
  const auto before = store->load();
  tamper("INSERT INTO task VALUES (9, 'c', '0 0 * * *', 0)");
  try {
    store->replace(plan_of(before.records, planned("c")), "second");
    FAIL();
  } catch (const ScheduleTaskError& error) {
    EXPECT_EQ(error.task_name(), "c");
    EXPECT_EQ(error.cron_expression(), "0 0 * * *");
    EXPECT_EQ(error.what(),
              "Failed to schedule task 'c': The state \"" + path +
                  "\" was changed by another program while in use (SQLite error 2067); restart to "
                  "continue with its current contents");
    EXPECT_EQ(cause_of(error), "SQLite error 2067: UNIQUE constraint failed: task.name");
  }
  tamper("DELETE FROM task WHERE id = 9");
  EXPECT_EQ(store->load(), before);
}

// E: SQLite's words about tables and statements are only in the cause.
TEST_F(Sqlite, does_not_name_tables_in_a_message) {
  const auto store = open_sqlite_store(path);
  const auto rows = store->replace(plan_of({}, planned("a")), "us");
  tamper("DROP TABLE progress");
  const RowUpdate update{rows[0], planned("a").progress};
  try {
    store->commit({&update, 1});
    FAIL();
  } catch (const StoreError& error) {
    EXPECT_EQ(error.what(),
              "The state \"" + path +
                  "\" is damaged, or another program has changed it (SQLite error 1); restore it "
                  "from a backup or move it away to start over");
    EXPECT_EQ(cause_of(error), "SQLite error 1: no such table: progress");
  }
}

// E: another program has ignored the lock.
TEST_F(Sqlite, notices_that_another_scheduler_has_replaced_its_tasks) {
  const auto store = open_sqlite_store(path);
  const auto rows = store->replace(plan_of({}, planned("a")), "ours");
  tamper(
      "DELETE FROM progress; DELETE FROM task; DELETE FROM scheduler;"
      "INSERT INTO scheduler (identifier) VALUES ('theirs')");
  const RowUpdate update{rows[0], planned("a").progress};
  EXPECT_EQ(
      error_of<TaskListMismatchError>([&] {
        store->commit({&update, 1});
      }),
      "The persisted tasks belong to scheduler theirs, not to ours, which is running; another "
      "scheduler replaced them");
}

// E: the list is still this scheduler's, but incomplete.
TEST_F(Sqlite, reports_that_its_tasks_were_deleted) {
  const auto store = open_sqlite_store(path);
  const auto rows = store->replace(plan_of({}, planned("a")), "ours");
  const RowUpdate update{rows[0], planned("a").progress};
  tamper("DELETE FROM progress; DELETE FROM task;");
  const std::string message =
      "A task of scheduler ours was deleted from the state while the scheduler was running; "
      "stop the scheduler and initialize it again";
  EXPECT_EQ(error_of<TaskListMismatchError>([&] { store->commit({&update, 1}); }), message);
  tamper("DELETE FROM scheduler");
  EXPECT_EQ(error_of<TaskListMismatchError>([&] { store->commit({&update, 1}); }), message);
}

// P7: the registration overrides a damaged configuration.
TEST_F(Sqlite, lets_a_registration_override_a_damaged_configuration) {
  make_state();
  tamper("UPDATE task SET retry_delay_ms = 'soon' WHERE id = 1");
  EXPECT_NE(open_sqlite_store(path)->load().records.at(0).config.cron, "0 0 * * *");
}

}  // namespace
}  // namespace dutiful
