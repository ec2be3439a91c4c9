// What a state that cannot be had is left as, and one that can be had in a moment.

#include <filesystem>

#include <poll.h>
#include <sys/stat.h>

#include "stores/sqlite_in_test.h"

namespace dutiful {
namespace {

using testing::HasSubstr;

// P6: a holder that is killed while it starts a child seems to hold on, for as long as the child
// has its descriptors.
TEST_F(Sqlite, is_had_once_the_child_of_a_killed_holder_has_let_go) {
  make_state();
  const pid_t holder = fork();
  if (holder == 0) {
    const auto held = open_sqlite_store(path);
    if (fork() == 0) {
      (void)poll(nullptr, 0, 100);
      _exit(0);
    }
    kill(getpid(), SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(waitpid(holder, &status, 0), holder);
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_NO_THROW(open_sqlite_store(path));
}

TEST_F(Sqlite, writes_its_name_into_nothing_else) {
  const std::string precious = directory.file("precious");
  std::ofstream{precious} << "precious";
  std::filesystem::create_symlink(precious, path + "-owner");
  EXPECT_THAT(open_error(), HasSubstr("-owner is no regular file; remove it"));
  EXPECT_EQ(std::filesystem::file_size(precious), 8);

  std::filesystem::remove(path + "-owner");
  ASSERT_EQ(mkfifo((path + "-owner").c_str(), 0600), 0);
  EXPECT_THAT(open_error(), HasSubstr("-owner is no regular file; remove it"));
}

TEST_F(Sqlite, leaves_the_log_of_another_program_to_it) {
  const pid_t other = fork();
  if (other == 0) {
    tamper("PRAGMA user_version = 5");
    sqlite3* database = nullptr;
    sqlite3_open(path.c_str(), &database);
    sqlite3_exec(
        database, "PRAGMA journal_mode = WAL; CREATE TABLE theirs (x)", nullptr, nullptr, nullptr);
    _exit(0);
  }
  ASSERT_EQ(waitpid(other, nullptr, 0), other);
  const auto size = std::filesystem::file_size(path);
  const auto log_size = std::filesystem::file_size(path + "-wal");
  ASSERT_GT(log_size, 0);
  EXPECT_THAT(open_error(), HasSubstr("is a database of another program"));
  EXPECT_EQ(std::filesystem::file_size(path), size);
  EXPECT_EQ(std::filesystem::file_size(path + "-wal"), log_size);
}

// Its number is not ours to read before its mark.
TEST_F(Sqlite, takes_no_other_program_for_a_newer_dutiful) {
  tamper("PRAGMA user_version = 5");
  EXPECT_THAT(open_error(), HasSubstr("is a database of another program"));
}

}  // namespace
}  // namespace dutiful
