// X3: a lock that once could not be released does not make the state useless until a restart.

#include <filesystem>
#include <utility>

#include "stores/sqlite_in_test.h"
#include "support/sqlite_faults.h"

namespace dutiful {
namespace {

using testing::HasSubstr;

class Reconnect : public Sqlite {
 protected:
  void open() {
    store = open_sqlite_store(path, Duration{1});
    row = store->replace(plan_of(store->load().records, planned("a")), "us").at(0);
  }

  void commit() {
    RowUpdate update{row, planned("a").progress};
    update.progress.attempt = ++attempt;
    update.progress.fence = attempt;
    update.progress.last_attempt = update.progress.pulse = at("2025-03-04T00:00:00Z");
    store->commit({&update, 1});
  }

  std::string commit_error() {
    return error_of<StoreError>([&] { commit(); });
  }

  // The next commit restarts the log.
  void empty_log() const { tamper("PRAGMA wal_checkpoint"); }

  // SQLite believes that it keeps all others from reading, itself included.
  void get_stuck() {
    int left = 1;
    faults.unlock_fails = [&](const struct flock& range) {
      return range.l_start == 124 && range.l_len == 4 && left-- > 0;
    };
    empty_log();
    for (int i = 0; i < 3; ++i) {
      EXPECT_THAT(commit_error(), HasSubstr("cannot be locked: the file system reports an error"));
    }
    faults.unlock_fails = nullptr;
    ASSERT_EQ(left, 0);
  }

  SqliteFaults faults;
  std::unique_ptr<Store> store;
  std::int64_t row = 0;
  std::uint32_t attempt = 0;
};

TEST_F(Reconnect, recovers_from_any_lock_that_was_not_released) {
  int unlocks = 1;
  int failed_most = 0;
  for (int n = 0; n < unlocks; ++n) {
    SCOPED_TRACE(n);
    path = directory.file(std::to_string(n));
    open();
    empty_log();
    int met = 0;
    int failed = 0;
    faults.unlock_fails = [&](const struct flock& /*range*/) { return met++ == n; };
    for (int i = 0; i < 2; ++i) failed += commit_error() == "no error" ? 0 : 1;
    faults.unlock_fails = nullptr;
    while (commit_error() != "no error") ASSERT_LE(++failed, 3);
    unlocks = std::max(unlocks, met);
    failed_most = std::max(failed, failed_most);
    EXPECT_EQ(store->load().records.at(0).progress.attempt, attempt);
    store.reset();
    EXPECT_EQ(read_sqlite_state(path).at(0).progress.attempt, attempt);
  }
  EXPECT_GE(unlocks, 6);
  EXPECT_EQ(failed_most, 3);
}

// P6: no other process can take it meanwhile.
TEST_F(Reconnect, holds_the_state_throughout) {
  make_state();
  int ask[2];
  int answer[2];
  ASSERT_EQ(pipe(ask), 0);
  ASSERT_EQ(pipe(answer), 0);
  const pid_t other = fork();  // shares nothing that this process opens from now on
  if (other == 0) {
    close(ask[1]);
    char byte = 0;
    if (read(ask[0], &byte, 1) != 1) _exit(0);
    const bool by_name = error_of<StateHeldError>([&] {
                           (void)open_sqlite_store(path);
                         }).ends_with("or use another state");
    std::filesystem::rename(path + "-owner", path + "-away");
    const bool by_file = error_of<StateHeldError>([&] {
                           (void)open_sqlite_store(path);
                         }).ends_with("or use another state");
    std::filesystem::rename(path + "-away", path + "-owner");
    // It is the last to close the database, so it removes the log.
    const bool reads = read_sqlite_state(path).size() == 1;
    byte = by_name && by_file && reads ? 'y' : 'n';
    (void)!write(answer[1], &byte, 1);
    _exit(0);
  }
  open();
  get_stuck();
  char byte = 0;
  faults.open_fails = [&](const std::string& file) {
    if (file != path || byte != 0) return false;
    (void)!write(ask[1], "x", 1);
    (void)!read(answer[0], &byte, 1);
    return false;
  };
  EXPECT_EQ(commit_error(), "no error");
  EXPECT_EQ(byte, 'y');
  close(ask[1]);
  waitpid(other, nullptr, 0);
  commit();
  EXPECT_EQ(read_sqlite_state(path).at(0).progress.attempt, attempt);
  EXPECT_THROW((void)open_sqlite_store(path), StateHeldError);
  for (const int end : {ask[0], answer[0], answer[1]}) close(end);
}

// P1: no one would look for records in a new file.
TEST_F(Reconnect, creates_no_new_state) {
  open();
  get_stuck();
  std::filesystem::rename(path, directory.file("away"));
  EXPECT_THAT(commit_error(), HasSubstr("was removed"));
  EXPECT_FALSE(std::filesystem::exists(path));
  std::filesystem::rename(directory.file("away"), path);

  faults.open_fails = [&](const std::string& file) {
    if (file == path) std::filesystem::rename(path, directory.file("away"));
    return false;
  };
  EXPECT_THAT(commit_error(), HasSubstr("cannot be opened"));
  EXPECT_FALSE(std::filesystem::exists(path));
  faults.open_fails = nullptr;
  std::filesystem::rename(directory.file("away"), path);
  EXPECT_EQ(commit_error(), "no error");
}

TEST_F(Reconnect, is_retried_until_it_succeeds) {
  open();
  get_stuck();
  faults.open_fails = [&](const std::string& file) { return file == path; };
  for (int i = 0; i < 3; ++i) EXPECT_THAT(commit_error(), HasSubstr("cannot be opened"));
  faults.open_fails = nullptr;
  EXPECT_EQ(commit_error(), "no error");
  EXPECT_EQ(store->load().records.at(0).progress.attempt, attempt);
}

// E: it continues with its own tasks only.
TEST_F(Reconnect, notices_that_another_scheduler_has_replaced_its_tasks) {
  open();
  get_stuck();
  bool armed = true;
  faults.open_fails = [&](const std::string& file) {
    if (file == path && std::exchange(armed, false)) {
      tamper("INSERT INTO scheduler (identifier) VALUES ('theirs')");
    }
    return false;
  };
  EXPECT_THAT(error_of<TaskListMismatchError>([&] { commit(); }),
              HasSubstr("belong to scheduler theirs, not to us"));
}

}  // namespace
}  // namespace dutiful
