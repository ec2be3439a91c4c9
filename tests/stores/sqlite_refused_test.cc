// A state that cannot be opened is left as it is; one whose holder has just died is waited for.

#include <filesystem>

#include <poll.h>
#include <sys/stat.h>

#include "stores/sqlite_in_test.h"

namespace dutiful {
namespace {

using testing::HasSubstr;

// P6: if a holder is killed while it starts a child, the state seems held for as long as the child
// has its descriptors.
TEST_F(Sqlite, can_be_opened_when_the_child_of_a_killed_holder_releases_it) {
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

TEST_F(Sqlite, writes_its_name_only_into_its_own_file) {
  const std::string precious = directory.file("precious");
  std::ofstream{precious} << "precious";
  std::filesystem::create_symlink(precious, path + "-owner");
  EXPECT_THAT(open_error(), HasSubstr("-owner\" is a symbolic link, which is not followed"));
  EXPECT_EQ(std::filesystem::file_size(precious), 8);

  std::filesystem::remove(path + "-owner");
  ASSERT_EQ(mkfifo((path + "-owner").c_str(), 0600), 0);
  EXPECT_THAT(open_error(), HasSubstr("-owner\" is not a regular file; remove it"));
}

TEST_F(Sqlite, does_not_touch_the_log_of_another_program) {
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

// Only part of the first page of a new state is in the file, and SQLite's journal says that there
// was no page before.
TEST_F(Sqlite, starts_empty_if_a_power_cut_tore_its_first_page) {
  using namespace std::string_literals;
  const std::string torn = std::string(512, '\0') + std::string(3584, 'x');
  std::string journal = "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"s;  // the beginning of every journal,
  journal +=
      "\0\0\0\0"s
      "\1\2\3\4"s
      "\0\0\0\0"s
      "\0\0\x02\0"s
      "\0\0\x10\0"s;  // no page, of 4096 bytes
  journal.resize(512);
  std::ofstream{path, std::ios::binary} << torn;
  std::ofstream{path + "-journal", std::ios::binary} << journal;
  EXPECT_TRUE(open_sqlite_store(path)->load().records.empty());
  EXPECT_FALSE(std::filesystem::exists(path + "-journal"));
}

TEST_F(Sqlite, rejects_a_file_of_another_program_with_a_file_beside_it) {
  std::ofstream{path} << "precious notes, no database";
  std::ofstream{path + "-journal"} << "precious journal";
  EXPECT_THAT(open_error(), HasSubstr("it is not an SQLite database"));
  EXPECT_EQ(std::filesystem::file_size(path + "-journal"), 16);
}

// Its version must not be read before its mark.
TEST_F(Sqlite, does_not_mistake_another_program_for_a_newer_dutiful) {
  tamper("PRAGMA user_version = 5");
  EXPECT_THAT(open_error(), HasSubstr("is a database of another program"));
}

}  // namespace
}  // namespace dutiful
