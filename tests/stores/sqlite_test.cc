// What can go wrong with a file: each is a clear error, and nothing is lost (RULES P6, P7, X3).

#include <array>
#include <csignal>
#include <fstream>
#include <set>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/engine.h"
#include "store/sqlite/holder.h"
#include "store/sqlite/sqlite_store.h"
#include "stores/plan_of.h"
#include "support/sqlite_lock.h"
#include "support/temporary_directory.h"
#include "support/times.h"

namespace dutiful {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class NoTrace : public TraceSink {
  void on(Instant /*at*/, const TraceEvent& /*event*/) override {}
};

class Sqlite : public testing::Test {
 protected:
  TemporaryDirectory directory;
  std::string path = directory.file("state.db");

  static PlannedTask planned(const std::string& name) {
    return PlannedTask{
        .config = {.name = name, .cron = "0 0 * * *", .retry_delay = Duration{60'000}},
        .schedule = CronExpression::parse("0 0 * * *"),
        .progress = {.first_coming = at("2025-03-03T10:00:00Z"),
                     .served_until = at("2025-03-03T10:00:00Z")},
        .classification = Classification::added};
  }

  // Two tasks, written and let go.
  void make_state() {
    open_sqlite_store(path)->replace(plan_of({}, planned("a"), planned("b")), "first");
  }

  // Another program at work on the file.
  void tamper(const char* sql) const {
    sqlite3* database = nullptr;
    ASSERT_EQ(sqlite3_open(path.c_str(), &database), SQLITE_OK);
    char* message = nullptr;
    EXPECT_EQ(sqlite3_exec(database, sql, nullptr, nullptr, &message), SQLITE_OK) << message;
    sqlite3_close(database);
  }

  std::string bytes() const {
    std::ifstream file{path, std::ios::binary};
    std::ostringstream out;
    out << file.rdbuf();
    return out.str();
  }

  template <typename Expected, typename Call>
  std::string error_of(Call call) {
    try {
      call();
      return "no error";
    } catch (const Expected& error) {
      return error.what();
    } catch (const std::exception& error) {
      return std::string{"another error: "} + error.what();
    }
  }
  std::string open_error() {
    return error_of<StoreError>([&] { (void)open_sqlite_store(path); });
  }
  template <typename Expected>
  std::string load_error() {
    return error_of<Expected>([&] { (void)open_sqlite_store(path)->load(); });
  }
};

TEST_F(Sqlite, refuses_a_file_that_is_no_database) {
  std::ofstream{path} << std::string(5000, 'x');
  const std::string before = bytes();
  EXPECT_THAT(open_error(), HasSubstr("is not a state of dutiful"));
  EXPECT_EQ(bytes(), before);
}

TEST_F(Sqlite, refuses_the_database_of_another_program) {
  tamper("CREATE TABLE theirs (x)");
  const std::string before = bytes();
  EXPECT_THAT(open_error(), HasSubstr("is a database of another program"));
  EXPECT_EQ(bytes(), before);
}

TEST_F(Sqlite, refuses_a_newer_schema) {
  make_state();
  tamper("PRAGMA user_version = 2");
  EXPECT_THAT(open_error(),
              HasSubstr("was written by a newer dutiful (schema 2, this one knows 1)"));
}

TEST_F(Sqlite, refuses_a_directory_that_is_not_there) {
  path = directory.file("missing/state.db");
  EXPECT_THAT(open_error(), HasSubstr("cannot be locked"));
}

TEST_F(Sqlite, refuses_a_path_below_a_file) {
  std::ofstream{directory.file("file")} << "x";
  path = directory.file("file/state.db");
  EXPECT_THAT(open_error(), HasSubstr("Not a directory; check that its directory exists"));
}

// What somebody who is not root is told, for root may write anywhere.
class Unprivileged : public Sqlite {
 protected:
  // The error of `call` in a process of its own, with the rights of nobody.
  template <typename Call>
  std::string error_as_nobody(Call call) {
    int report[2];
    EXPECT_EQ(pipe(report), 0);
    const pid_t child = fork();
    if (child == 0) {
      std::string error = "cannot become nobody";
      if (getuid() != 0 || (setgid(65534) == 0 && setuid(65534) == 0)) {
        error = error_of<StoreError>(call);
      }
      (void)!write(report[1], error.data(), error.size());
      _exit(0);
    }
    close(report[1]);
    std::string error;
    std::array<char, 256> part{};
    for (ssize_t size = 1; (size = read(report[0], part.data(), part.size())) > 0;) {
      error.append(part.data(), static_cast<std::size_t>(size));
    }
    close(report[0]);
    waitpid(child, nullptr, 0);
    return error;
  }
};

TEST_F(Unprivileged, is_told_of_a_directory_that_may_not_be_written) {
  make_state();
  std::filesystem::remove(path + "-owner");
  std::filesystem::permissions(directory.file("."), std::filesystem::perms{0555});
  EXPECT_THAT(error_as_nobody([&] { (void)open_sqlite_store(path); }),
              AllOf(HasSubstr("cannot be locked"),
                    HasSubstr("Permission denied; check that its directory")));
  std::filesystem::permissions(directory.file("."), std::filesystem::perms{0755});
}

TEST_F(Unprivileged, is_told_of_a_state_that_may_not_be_written) {
  make_state();
  std::filesystem::remove(path + "-owner");
  std::filesystem::permissions(directory.file("."), std::filesystem::perms{0777});
  std::filesystem::permissions(path, std::filesystem::perms{0444});
  const std::string before = bytes();
  EXPECT_THAT(error_as_nobody([&] {
                const auto store = open_sqlite_store(path);
                store->replace(plan_of({}, planned("c")), "second");
              }),
              HasSubstr("cannot be written: Permission denied; check its permissions"));
  EXPECT_EQ(bytes(), before);
}

TEST_F(Unprivileged, is_told_who_may_read_a_state) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root, to become somebody else";
  make_state();
  std::filesystem::permissions(directory.file("."), std::filesystem::perms{0755});
  std::filesystem::permissions(path, std::filesystem::perms{0600});
  EXPECT_THAT(error_as_nobody([&] { (void)read_sqlite_state(path); }),
              AllOf(HasSubstr(path + "\" may not be read by "),
                    HasSubstr(": it belongs to root; ask as root, or let others read it")));
  std::filesystem::permissions(directory.file("."), std::filesystem::perms{0700});
  EXPECT_THAT(error_as_nobody([&] { (void)read_sqlite_state(path); }),
              HasSubstr("Permission denied; check the permissions of the directories above it"));
}

// As a daemon that was killed leaves it: with a log that holds what is newest.
TEST_F(Unprivileged, reads_a_state_with_a_log_where_that_has_its_index) {
  const auto held = open_sqlite_store(path);
  held->replace(plan_of({}, planned("a"), planned("b")), "first");
  std::filesystem::permissions(directory.file("."), std::filesystem::perms{0755});
  const std::string left = directory.file("left.db");
  for (const char* part : {"", "-wal", "-shm"}) {
    std::filesystem::copy_file(path + part, left + part);
  }
  const auto read = [&](const std::string& state) {
    return error_as_nobody([&] {
      if (read_sqlite_state(state).size() != 2) throw StoreError(state, "lacks what is newest");
    });
  };
  EXPECT_EQ(read(path), "no error");
  EXPECT_EQ(read(left), "no error");
  if (geteuid() != 0) return;  // who owns the directory can make an index
  std::filesystem::remove(left + "-shm");
  EXPECT_THAT(read(left), AllOf(HasSubstr("its log has no index"), HasSubstr("; copy \"" + left)));
  // The log is beside the file, wherever a link to it is.
  TemporaryDirectory elsewhere;
  std::filesystem::permissions(elsewhere.file("."), std::filesystem::perms{0755});
  std::filesystem::create_symlink(left, elsewhere.file("link.db"));
  EXPECT_THAT(read(elsewhere.file("link.db")), HasSubstr("its log has no index"));
  std::filesystem::permissions(left + "-wal", std::filesystem::perms{0600});
  EXPECT_THAT(read(left), HasSubstr("left.db-wal\", which belongs to it, may not be read by "));
}

// Its log is empty, but will not be for long.
TEST_F(Unprivileged, does_not_read_past_the_log_of_a_state_that_somebody_holds) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root, to become somebody else";
  make_state();
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t holder = fork();
  if (holder == 0) {
    const auto held = open_sqlite_store(path);
    (void)!write(ready[1], "x", 1);
    while (true) pause();
  }
  char byte = 0;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  tamper("PRAGMA wal_checkpoint(TRUNCATE)");
  ASSERT_EQ(std::filesystem::file_size(path + "-wal"), 0);
  std::filesystem::permissions(directory.file("."), std::filesystem::perms{0755});
  std::filesystem::permissions(path + "-shm", std::filesystem::perms{0600});
  EXPECT_THAT(error_as_nobody([&] { (void)read_sqlite_state(path); }),
              HasSubstr("state.db-shm\", which belongs to it, may not be read by "));
  kill(holder, SIGKILL);
  waitpid(holder, nullptr, 0);
  close(ready[0]);
  close(ready[1]);
}

// X3: another program holds the file for longer than it is waited for.
TEST_F(Sqlite, says_that_another_is_writing) {
  const auto store = open_sqlite_store(path, Duration{1});
  const auto rows = store->replace(plan_of({}, planned("a")), "first");
  const RowUpdate update{rows[0], planned("a").progress};
  SqliteLock lock{path};
  EXPECT_THAT(error_of<StoreError>([&] {
                store->commit({&update, 1});
              }),
              HasSubstr("is locked by another process for too long; end what is writing to it"));
  EXPECT_EQ(store->load().size(), 1);
  lock.release();
  EXPECT_NO_THROW(store->commit({&update, 1}));
}

// X3: and the engine gets through when that is over.
TEST_F(Sqlite, is_tried_again_until_the_other_has_written) {
  NoTrace trace;
  std::vector<std::string> failures;
  Engine engine{Calendar{Zone::utc()},
                {},
                [&] { return open_sqlite_store(path, Duration{1}); },
                trace,
                [&](const Event& event) {
                  if (event.name == "StoreFailed") failures.push_back(to_json(event));
                }};
  const Instant now = at("2025-03-03T10:00:00Z");
  engine.initialize({{.name = "a", .cron = "* * * * *", .retry_delay = Duration{60'000}}}, now);
  SqliteLock lock{path};
  EXPECT_TRUE(engine.step(now).empty());
  EXPECT_TRUE(engine.step(engine.next_wake()).empty());
  EXPECT_THAT(failures, testing::SizeIs(2));
  EXPECT_THAT(failures, testing::Each(HasSubstr("is locked by another process for too long")));
  lock.release();
  const auto starts = engine.step(engine.next_wake());
  ASSERT_EQ(starts.size(), 1);
  EXPECT_EQ(starts[0].at, now + Duration{300});
  engine.end(starts[0].task, Outcome::success, starts[0].at);
  engine.stop(starts[0].at);
  engine.settle(starts[0].at);
  EXPECT_EQ(engine.lifecycle(), Lifecycle::uninitialized);
}

TEST_F(Sqlite, names_the_process_that_holds_the_state) {
  const auto held = open_sqlite_store(path);
  EXPECT_THAT(error_of<StateHeldError>([&] { (void)open_sqlite_store(path); }),
              HasSubstr("is in use by process " + std::to_string(getpid()) + " since 20"));
}

TEST_F(Sqlite, is_one_state_by_whatever_link_it_is_reached) {
  make_state();
  std::filesystem::create_symlink(path, directory.file("link.db"));
  const auto held = open_sqlite_store(path);
  EXPECT_THROW((void)open_sqlite_store(directory.file("link.db")), StateHeldError);
}

TEST_F(Sqlite, is_one_state_by_a_hard_link_too) {
  make_state();
  const std::string other = directory.file("hard.db");
  int go[2];
  ASSERT_EQ(pipe(go), 0);
  const pid_t child = fork();  // which knows nothing of what this process opens from now on
  if (child == 0) {
    char byte = 0;
    (void)!read(go[0], &byte, 1);
    const bool is_held = error_of<StateHeldError>([&] {
                           (void)open_sqlite_store(other);
                         }).ends_with("or use another state");
    tamper("SELECT name FROM task");
    _exit(is_held ? 0 : 1);
  }
  const auto held = open_sqlite_store(path);
  held->replace(plan_of(held->load()), "us");
  std::filesystem::create_hard_link(path, other);
  EXPECT_THROW((void)open_sqlite_store(other), StateHeldError);

  (void)!write(go[1], "x", 1);
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  // Whoever closes a database as the last one removes its log. Nobody was, so SQLite's own locks
  // have outlived the one that was refused.
  EXPECT_TRUE(std::filesystem::exists(path + "-wal"));
  close(go[0]);
  close(go[1]);
}

// What is committed may be in the log of the other name, as a scheduler leaves it that is killed.
TEST_F(Sqlite, is_not_taken_by_one_of_several_names) {
  make_state();
  const std::string other = directory.file("hard.db");
  std::filesystem::create_hard_link(path, other);
  for (const std::string& name : {path, other}) {
    EXPECT_THAT(error_of<StoreError>([&] { (void)open_sqlite_store(name); }),
                AllOf(HasSubstr(name + "\" has several names"), HasSubstr("remove the others")));
  }
  std::filesystem::remove(other);
  EXPECT_EQ(open_sqlite_store(path)->load().size(), 2);
}

// Who is refused leaves everything as it was (RULES I2, P6).
TEST_F(Sqlite, leaves_nothing_beside_what_it_refuses) {
  const auto files = [&] {
    std::set<std::string> names;
    for (const auto& file : std::filesystem::directory_iterator{directory.file("")}) {
      names.insert(file.path().filename());
    }
    return names;
  };
  tamper("CREATE TABLE theirs (x)");
  EXPECT_THAT(open_error(), HasSubstr("is a database of another program"));
  EXPECT_THAT(files(), testing::ElementsAre("state.db"));

  std::filesystem::remove(path);
  make_state();
  std::filesystem::remove(path + "-owner");
  std::filesystem::create_hard_link(path, directory.file("hard.db"));
  EXPECT_THAT(open_error(), HasSubstr("has several names"));
  EXPECT_THAT(files(), testing::ElementsAre("hard.db", "state.db"));

  std::filesystem::remove(directory.file("hard.db"));
  tamper("PRAGMA user_version = 2");
  EXPECT_THAT(open_error(), HasSubstr("was written by a newer dutiful"));
  EXPECT_THAT(files(), testing::ElementsAre("state.db"));
}

TEST_F(Sqlite, leaves_the_name_of_a_clean_end_where_it_is_refused) {
  make_state();
  tamper("PRAGMA user_version = 2");
  EXPECT_THAT(open_error(), HasSubstr("was written by a newer dutiful"));
  EXPECT_TRUE(std::filesystem::exists(path + "-owner"));
}

// Nothing was ever recorded there.
TEST_F(Sqlite, leaves_no_state_that_was_only_opened) {
  EXPECT_TRUE(open_sqlite_store(path)->load().empty());
  EXPECT_TRUE(std::filesystem::is_empty(directory.file("")));
}

// Removal of the lock's file lets nobody in.
TEST_F(Sqlite, is_held_also_where_the_file_that_names_the_holder_is_removed) {
  make_state();
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) {
    const auto held = open_sqlite_store(path);
    (void)!write(ready[1], "x", 1);
    while (true) pause();
  }
  char byte = 0;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  std::filesystem::remove(path + "-owner");
  EXPECT_THAT(error_of<StateHeldError>([&] { (void)open_sqlite_store(path); }),
              HasSubstr("is in use by another process"));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  close(ready[0]);
  close(ready[1]);
  EXPECT_EQ(open_sqlite_store(path)->load().size(), 2);
}

// Who was killed is told until another has really taken the state, not only tried to.
TEST_F(Sqlite, remembers_who_was_killed_until_another_has_taken_it) {
  make_state();
  const Holder killed{.process = 4321, .since = at("2025-03-03T10:00:00Z"), .host = "here"};
  std::ofstream{owner_file_of(path)} << to_text(killed);
  tamper("UPDATE progress SET state = 7 WHERE task = 1");
  {
    const auto store = open_sqlite_store(path);
    EXPECT_THROW((void)store->load(), TaskInvalidValueError);
    EXPECT_EQ(read_service(path).holder.value().process, getpid());
  }
  EXPECT_EQ(read_service(path).holder, killed);
  tamper("PRAGMA user_version = 2");
  EXPECT_THROW((void)open_sqlite_store(path), StoreError);
  EXPECT_EQ(read_service(path).holder, killed);
  tamper("PRAGMA user_version = 1; UPDATE progress SET state = 0");
  {
    const auto store = open_sqlite_store(path);
    store->replace(plan_of(store->load()), "us");
  }
  EXPECT_EQ(read_service(path), Service{});
}

// P1: what is written to a file that nobody can open again is not durable.
TEST_F(Sqlite, records_nothing_while_a_file_of_it_is_gone) {
  for (const std::string suffix : {"", "-wal", "-shm", "-owner"}) {
    SCOPED_TRACE(suffix);
    TemporaryDirectory elsewhere;
    const std::string state = elsewhere.file("state.db");
    const std::string file = state + suffix;
    const auto store = open_sqlite_store(state);
    const auto rows = store->replace(plan_of({}, planned("a")), "us");
    const RowUpdate update{rows[0], {}};
    store->commit({{update}});

    std::filesystem::rename(file, elsewhere.file("away"));
    EXPECT_THAT(error_of<StoreError>([&] { store->commit({{update}}); }),
                AllOf(HasSubstr(file + "\" was removed"), HasSubstr("put it back, or restart")));
    std::ofstream{file} << "";
    EXPECT_THAT(error_of<StoreError>([&] { store->commit({{update}}); }),
                HasSubstr(file + "\" was replaced"));
    std::filesystem::rename(elsewhere.file("away"), file);
    store->commit({{update}});
  }
}

// The lock dies with its process, however that ends.
TEST_F(Sqlite, is_free_again_when_its_holder_is_killed) {
  make_state();
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) {
    const auto held = open_sqlite_store(path);
    (void)!write(ready[1], "x", 1);
    while (true) pause();
  }
  char byte = 0;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  EXPECT_THROW((void)open_sqlite_store(path), StateHeldError);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  close(ready[0]);
  close(ready[1]);
  EXPECT_EQ(open_sqlite_store(path)->load().size(), 2);
}

TEST_F(Sqlite, can_be_read_by_others_while_it_is_held) {
  make_state();
  const auto held = open_sqlite_store(path);
  tamper("SELECT name, state FROM task JOIN progress ON task = id");
}

// P7: the precise error, and nothing is overwritten.
TEST_F(Sqlite, reports_a_damaged_record) {
  make_state();
  tamper("UPDATE progress SET state = 7 WHERE task = 1");
  EXPECT_EQ(load_error<TaskInvalidValueError>(),
            "Invalid value for field 'state': 7 is not between 0 and 2");
  tamper("UPDATE progress SET state = 'running' WHERE task = 1");
  EXPECT_EQ(load_error<TaskInvalidTypeError>(),
            "Invalid type for field 'state': expected integer, got text");
  tamper("UPDATE progress SET state = 0, last_attempt = 1.5 WHERE task = 1");
  EXPECT_EQ(load_error<TaskInvalidTypeError>(),
            "Invalid type for field 'lastAttemptAt': expected integer, got real");
  tamper("DELETE FROM progress WHERE task = 1");
  EXPECT_EQ(load_error<TaskInvalidStructureError>(),
            "A task has no progress: its record is incomplete");
  tamper("UPDATE task SET name = x'00' WHERE id = 1");
  EXPECT_EQ(load_error<TaskInvalidTypeError>(),
            "Invalid type for field 'name': expected text, got blob");
}

// P7: each field by itself is what it should be, but no scheduler has written them together.
TEST_F(Sqlite, reports_a_record_that_contradicts_itself) {
  struct Row {
    const char* change;
    const char* message;
  };
  const std::string ran = "last_attempt = 1, pulse = 1, attempt = 1";
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
           {"last_attempt = 1, attempt = 1", "Missing required field: pulse"},
           {"last_attempt = 1, pulse = 1",
            "Invalid value for field 'attempt': 0 is not the number of a run, and it has run"},
           {"RAN, state = 2, last_failure = 1", "Missing required field: pendingRetryUntil"},
           {"RAN, state = 2, pending_retry_until = 1", "Missing required field: lastFailureAt"},
           {"RAN, state = 1, pending_retry_until = 1",
            "Invalid value for field 'pendingRetryUntil': the task is not awaiting a retry"},
           {"pending_retry_until = 1",
            "Invalid value for field 'pendingRetryUntil': the task is not awaiting a retry"},
           {"RAN, state = 1, orphan_pending = 1",
            "Invalid value for field 'orphanPending': an interrupted run is restarted before the "
            "task goes on"},
           {"served_until = 9223372036854775807",
            "Invalid value for field 'servedUntil': 9223372036854775807 ms is not in the years 1 "
            "to 9999"},
       }) {
    SCOPED_TRACE(row.change);
    path = directory.file(std::to_string(std::hash<std::string>{}(row.change)));
    make_state();
    std::string change = row.change;
    if (change.starts_with("RAN")) change.replace(0, 3, ran);
    tamper(("UPDATE progress SET " + change + " WHERE task = 1").c_str());
    const std::string before = bytes();
    EXPECT_EQ(load_error<TaskTryDeserializeError>(), row.message);
    EXPECT_EQ(bytes(), before);
  }
}

// P4: the error names the task, keeps the cause, and the state is as it was.
TEST_F(Sqlite, names_the_task_that_cannot_be_written) {
  make_state();
  tamper(
      "CREATE TRIGGER t BEFORE INSERT ON task WHEN new.name = 'c' BEGIN SELECT RAISE(FAIL, 'x'); "
      "END");
  const auto store = open_sqlite_store(path);
  const auto before = store->load();
  try {
    store->replace(plan_of(before, planned("c")), "second");
    FAIL();
  } catch (const ScheduleTaskError& error) {
    EXPECT_EQ(error.task_name(), "c");
    EXPECT_EQ(error.cron_expression(), "0 0 * * *");
    EXPECT_THAT(error.what(), HasSubstr("Failed to schedule task 'c': "));
    EXPECT_THROW(std::rethrow_exception(error.cause()), StoreError);
  }
  EXPECT_EQ(store->load(), before);
}

// E: somebody has taken the lock for less than it is.
TEST_F(Sqlite, notices_that_another_has_replaced_its_tasks) {
  const auto store = open_sqlite_store(path);
  const auto rows = store->replace(plan_of({}, planned("a")), "ours");
  tamper(
      "DELETE FROM progress; DELETE FROM task; DELETE FROM scheduler;"
      "INSERT INTO scheduler (identifier) VALUES ('theirs')");
  const RowUpdate update{rows[0], planned("a").progress};
  EXPECT_EQ(error_of<TaskListMismatchError>([&] {
              store->commit({&update, 1});
            }),
            "The persisted tasks belong to scheduler theirs, not to ours, which runs; another "
            "scheduler has replaced them");
}

// E: the list is still the one it wrote, but not all of it.
TEST_F(Sqlite, says_that_its_tasks_were_deleted) {
  const auto store = open_sqlite_store(path);
  const auto rows = store->replace(plan_of({}, planned("a")), "ours");
  const RowUpdate update{rows[0], planned("a").progress};
  tamper("DELETE FROM progress; DELETE FROM task;");
  const std::string message =
      "A task of scheduler ours, which runs, is gone from the state: somebody has deleted it; "
      "stop the scheduler and initialize it again";
  EXPECT_EQ(error_of<TaskListMismatchError>([&] { store->commit({&update, 1}); }), message);
  tamper("DELETE FROM scheduler");
  EXPECT_EQ(error_of<TaskListMismatchError>([&] { store->commit({&update, 1}); }), message);
}

// P7: a damaged configuration is overridden by the registration.
TEST_F(Sqlite, leaves_a_damaged_configuration_to_be_overridden) {
  make_state();
  tamper("UPDATE task SET retry_delay_ms = 'soon' WHERE id = 1");
  EXPECT_NE(open_sqlite_store(path)->load().at(0).config.cron, "0 0 * * *");
}

// X3: nothing is lost, and when there is room again it goes on.
TEST_F(Sqlite, survives_a_disk_that_fills_up) {
  const auto store = open_sqlite_store(path);
  store->replace(plan_of({}, planned("a"), planned("b")), "first");
  const auto records = store->load();
  RowUpdate update{records[0].row, records[0].progress};
  update.progress.last_attempt = update.progress.pulse = at("2025-03-04T00:00:00Z");
  update.progress.attempt = 7;

  const auto old_handler = signal(SIGXFSZ, SIG_IGN);
  rlimit limit{};
  getrlimit(RLIMIT_FSIZE, &limit);
  const rlimit none{.rlim_cur = 0, .rlim_max = limit.rlim_max};
  setrlimit(RLIMIT_FSIZE, &none);
  EXPECT_THROW(store->commit({&update, 1}), StoreError);
  setrlimit(RLIMIT_FSIZE, &limit);
  signal(SIGXFSZ, old_handler);

  EXPECT_EQ(store->load(), records);
  store->commit({&update, 1});
  EXPECT_EQ(store->load().at(0).progress.attempt, 7);
}

TEST_F(Sqlite, says_that_a_file_is_damaged) {
  make_state();
  std::string damaged = bytes();
  for (std::size_t i = 4096; i < damaged.size(); ++i) damaged[i] = 'x';
  std::ofstream{path, std::ios::binary} << damaged;
  EXPECT_THAT(load_error<StoreError>(), HasSubstr("is damaged"));
}

TEST_F(Sqlite, is_read_while_another_holds_it) {
  make_state();
  const auto holder = open_sqlite_store(path);
  const auto records = read_sqlite_state(path);
  ASSERT_EQ(records.size(), 2U);
  EXPECT_EQ(records[0].config.name, "a");
  EXPECT_EQ(records, holder->load());
}

TEST_F(Sqlite, is_read_by_who_may_not_write) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root, to become somebody else";
  make_state();
  chmod(directory.file("").c_str(), 0755);
  const pid_t reader = fork();
  if (reader == 0) {
    if (setgid(65534) != 0 || setuid(65534) != 0) _exit(2);
    try {
      _exit(read_sqlite_state(path).size() == 2 ? 0 : 1);
    } catch (const Error&) {
      _exit(3);
    }
  }
  int status = 0;
  waitpid(reader, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST_F(Sqlite, is_not_made_by_reading) {
  EXPECT_THAT(error_of<StoreError>([&] { (void)read_sqlite_state(path); }),
              HasSubstr("does not exist"));
  EXPECT_FALSE(std::filesystem::exists(path));
}

}  // namespace
}  // namespace dutiful
