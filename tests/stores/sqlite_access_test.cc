// Who may read and write the file of a state, and the errors for everyone else.

#include <array>
#include <filesystem>

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/sqlite/holder.h"
#include "stores/sqlite_in_test.h"
#include "support/another_user.h"

namespace dutiful {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// The errors that a user other than root gets; root may write anywhere.
class Unprivileged : public Sqlite {
 protected:
  // The error of `call` in a separate process with the rights of `nobody`.
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

TEST_F(Unprivileged, gets_an_error_about_a_read_only_directory) {
  make_state();
  std::filesystem::remove(path + "-owner");
  std::filesystem::permissions(directory.file("."), std::filesystem::perms{0555});
  EXPECT_THAT(error_as_nobody([&] { (void)open_sqlite_store(path); }),
              AllOf(HasSubstr("cannot be locked"),
                    HasSubstr("Permission denied; check that its directory")));
  std::filesystem::permissions(directory.file("."), std::filesystem::perms{0755});
}

TEST_F(Unprivileged, gets_an_error_about_a_read_only_state) {
  make_state();
  std::filesystem::permissions(directory.file("."), std::filesystem::perms{0777});
  for (const char* part : {"", "-owner"}) {
    if (geteuid() != 0) continue;
    ASSERT_EQ(chown((path + part).c_str(), another_user, another_user), 0);
  }
  std::filesystem::permissions(path, std::filesystem::perms{0444});
  const std::string before = bytes();
  EXPECT_THAT(error_as_nobody([&] {
                const auto store = open_sqlite_store(path);
                store->replace(plan_of({}, planned("c")), "second");
              }),
              HasSubstr("cannot be written: Permission denied; check its permissions"));
  EXPECT_EQ(bytes(), before);
}

// Not even if its mode allows it.
TEST_F(Unprivileged, may_not_open_the_state_of_another_user) {
  DUTIFUL_NEEDS_ANOTHER_USER();
  make_state();
  std::filesystem::permissions(directory.file("."), std::filesystem::perms{0777});
  for (const char* part : {"-owner", ""}) {
    for (const mode_t mode : {0600U, 0666U}) {
      std::filesystem::permissions(path + part, std::filesystem::perms{mode});
      EXPECT_THAT(
          error_as_nobody([&] { (void)open_sqlite_store(path); }),
          AllOf(HasSubstr(path + part + "\" belongs to root"), HasSubstr("run it as root")));
    }
    std::filesystem::remove(path + "-owner");
  }
}

TEST_F(Unprivileged, gets_an_error_that_says_who_may_read_the_state) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root to become another user";
  make_state();
  std::filesystem::permissions(directory.file("."), std::filesystem::perms{0755});
  for (const mode_t mode : {0600U, 0644U}) {
    std::filesystem::permissions(path, std::filesystem::perms{mode});
    EXPECT_THAT(error_as_nobody([&] { (void)read_sqlite_state(path); }),
                AllOf(HasSubstr(path + "\" belongs to root and cannot be read by "),
                      HasSubstr("; run this command as root")));
  }
  std::filesystem::permissions(directory.file("."), std::filesystem::perms{0700});
  EXPECT_THAT(error_as_nobody([&] { (void)read_sqlite_state(path); }),
              HasSubstr("Permission denied; check the permissions of the directories above it"));
}

// As a killed daemon leaves it: with a log that holds the newest changes.
TEST_F(Unprivileged, reads_a_state_with_a_log_if_the_log_has_its_index) {
  const auto held = open_sqlite_store(path);
  held->replace(plan_of({}, planned("a"), planned("b")), "first");
  std::filesystem::permissions(directory.file("."), std::filesystem::perms{0755});
  const std::string left = directory.file("left.db");
  for (const char* part : {"", "-wal", "-shm"}) {
    std::filesystem::copy_file(path + part, left + part);
    if (geteuid() != 0) continue;
    for (const std::string& state : {path, left}) {
      ASSERT_EQ(chown((state + part).c_str(), another_user, another_user), 0);
    }
  }
  const auto read = [&](const std::string& state) {
    return error_as_nobody([&] {
      if (read_sqlite_state(state).size() != 2) throw StoreError(state, "lacks what is newest");
    });
  };
  EXPECT_EQ(read(path), "no error");
  EXPECT_EQ(read(left), "no error");
  if (geteuid() != 0) return;  // the owner of the directory can make an index
  std::filesystem::remove(left + "-shm");
  EXPECT_THAT(read(left), AllOf(HasSubstr("its log has no index"), HasSubstr("; copy \"" + left)));
  // The log is beside the file, wherever the link to it is.
  TemporaryDirectory elsewhere;
  std::filesystem::permissions(elsewhere.file("."), std::filesystem::perms{0755});
  std::filesystem::create_symlink(left, elsewhere.file("link.db"));
  EXPECT_THAT(read(elsewhere.file("link.db")), HasSubstr("its log has no index"));
  ASSERT_EQ(chown((left + "-wal").c_str(), 0, 0), 0);
  EXPECT_THAT(read(left), HasSubstr("left.db-wal\", which belongs to it, belongs to root"));
}

// Its log is empty, but not for long.
TEST_F(Unprivileged, does_not_bypass_the_log_of_a_held_state) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root to become another user";
  make_state();
  AnotherHolder holder{path};
  tamper("PRAGMA wal_checkpoint(TRUNCATE)");
  ASSERT_EQ(std::filesystem::file_size(path + "-wal"), 0);
  std::filesystem::permissions(directory.file("."), std::filesystem::perms{0755});
  for (const char* part : {"", "-owner", "-wal"}) {
    ASSERT_EQ(chown((path + part).c_str(), another_user, another_user), 0);
  }
  EXPECT_THAT(error_as_nobody([&] { (void)read_sqlite_state(path); }),
              HasSubstr("state.db-shm\", which belongs to it, belongs to root"));
  holder.be_killed();
}

TEST_F(Sqlite, keeps_other_programs_able_to_read) {
  make_state();
  const auto held = open_sqlite_store(path);
  EXPECT_EQ(query("SELECT name, state FROM task JOIN progress ON task = id ORDER BY name"),
            (std::vector<std::string>{"a|0", "b|0"}));
}

TEST_F(Sqlite, is_read_while_another_holds_it) {
  make_state();
  const auto holder = open_sqlite_store(path);
  const auto records = read_sqlite_state(path);
  ASSERT_EQ(records.size(), 2U);
  EXPECT_EQ(records[0].config.name, "a");
  EXPECT_EQ(records, holder->load().records);
}

TEST_F(Sqlite, can_be_read_by_its_owner_in_a_read_only_directory) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root to become another user";
  make_state();
  chmod(directory.file("").c_str(), 0755);
  for (const char* part : {"", "-owner"}) {
    ASSERT_EQ(chown((path + part).c_str(), another_user, another_user), 0);
  }
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

// A reader in another process finds either no tasks or all of them while the state is being
// created.
TEST_F(Sqlite, is_read_as_empty_while_it_is_being_created) {
  for (int round = 0; round < 50; ++round) {
    SCOPED_TRACE(round);
    path = directory.file("state" + std::to_string(round));
    const pid_t maker = fork();
    if (maker == 0) {
      make_state();
      _exit(0);
    }
    ASSERT_GT(maker, 0);
    std::string trouble = "no error";
    bool has_ended = false;
    std::size_t tasks = 0;
    while (tasks == 0 && trouble == "no error" && !has_ended) {
      has_ended = waitpid(maker, nullptr, WNOHANG) == maker;  // one more look after that
      if (!std::filesystem::exists(path)) continue;
      trouble = error_of<StoreError>([&] { tasks = read_sqlite_state(path).size(); });
    }
    if (!has_ended) waitpid(maker, nullptr, 0);
    ASSERT_EQ(trouble, "no error");
    ASSERT_EQ(tasks, 2U);
  }
}

TEST_F(Sqlite, is_not_created_by_reading) {
  EXPECT_THAT(error_of<StoreError>([&] { (void)read_sqlite_state(path); }),
              HasSubstr("does not exist"));
  EXPECT_FALSE(std::filesystem::exists(path));
}

}  // namespace
}  // namespace dutiful
