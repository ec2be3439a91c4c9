#include "daemon/find_state.h"

#include <array>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/sqlite/sqlite_store.h"
#include "support/temporary_directory.h"

namespace dutiful {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// In a directory of its own.
class FindState : public testing::Test {
 protected:
  FindState() { std::filesystem::current_path(directory.file("")); }
  ~FindState() override { std::filesystem::current_path(before); }
  FindState(const FindState&) = delete;
  FindState& operator=(const FindState&) = delete;

  static void make_state(const std::string& name) { open_sqlite_store(name)->replace({}, "us"); }
  static void run_sql(const std::string& name, const char* sql) {
    sqlite3* database = nullptr;
    ASSERT_EQ(sqlite3_open(name.c_str(), &database), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(database, sql, nullptr, nullptr, nullptr), SQLITE_OK);
    sqlite3_close(database);
  }
  static std::string error() {
    try {
      return "found " + find_state(std::nullopt);
    } catch (const std::runtime_error& error) {
      return error.what();
    }
  }

  std::filesystem::path before = std::filesystem::current_path();
  TemporaryDirectory directory;
};

TEST_F(FindState, takes_a_file_as_it_is_and_a_task_file_for_its_state) {
  EXPECT_EQ(find_state("anywhere/state"), "anywhere/state");
  EXPECT_EQ(find_state("anywhere/tasks.toml"), "anywhere/tasks.db");
}

TEST_F(FindState, finds_the_only_one_among_other_files) {
  make_state("tasks.db");
  run_sql("other.db", "CREATE TABLE theirs (x)");
  std::ofstream{"text.db"} << "this is no database, whatever its name may say of it";
  std::filesystem::create_directory("directory.db");
  EXPECT_EQ(find_state(std::nullopt), "tasks.db");
}

TEST_F(FindState, says_what_to_give_where_there_is_none_or_one_too_many) {
  EXPECT_THAT(error(), AllOf(HasSubstr("there is no state"), HasSubstr("--state")));
  make_state("b.db");
  make_state("a.db");
  EXPECT_THAT(error(), AllOf(HasSubstr("several"), HasSubstr("--state: \"a.db\", \"b.db\"")));
}

TEST_F(FindState, takes_a_state_and_links_to_it_for_one) {
  make_state("tasks.db");
  std::filesystem::create_symlink("tasks.db", "link.db");
  std::filesystem::create_symlink("link.db", "also.db");
  EXPECT_EQ(find_state(std::nullopt), "tasks.db");
  std::filesystem::rename("tasks.db", "tasks");
  std::filesystem::remove("link.db");
  std::filesystem::create_symlink("tasks", "link.db");
  EXPECT_EQ(find_state(std::nullopt), "also.db");
  make_state("other.db");
  EXPECT_THAT(error(), HasSubstr("--state: \"other.db\", \"also.db\""));
}

TEST_F(FindState, finds_one_that_cannot_be_read_for_whoever_reads_it_says_why) {
  make_state("tasks.db");
  run_sql("tasks.db", "INSERT INTO task (name, cron, retry_delay_ms) VALUES ('a', '', 0)");
  EXPECT_EQ(find_state(std::nullopt), "tasks.db");
  std::filesystem::resize_file("tasks.db", 5000);
  EXPECT_THROW((void)read_sqlite_state("tasks.db"), StoreError);
  EXPECT_EQ(find_state(std::nullopt), "tasks.db");
}

// Root may read anything.
class Unprivileged : public FindState {
 protected:
  // What is said in a process of its own, with the rights of nobody, where it is not its own
  // already.
  static std::string error_as_nobody() {
    int report[2];
    EXPECT_EQ(pipe(report), 0);
    const pid_t child = fork();
    if (child == 0) {
      std::string text = "cannot become nobody";
      if (getuid() != 0 || (setgid(65534) == 0 && setuid(65534) == 0)) text = error();
      (void)!write(report[1], text.data(), text.size());
      _exit(0);
    }
    close(report[1]);
    std::string text;
    std::array<char, 256> part{};
    for (ssize_t size = 1; (size = read(report[0], part.data(), part.size())) > 0;)
      text.append(part.data(), static_cast<std::size_t>(size));
    close(report[0]);
    waitpid(child, nullptr, 0);
    return text;
  }
};

TEST_F(Unprivileged, is_told_that_a_directory_cannot_be_read_not_that_nothing_is_in_it) {
  make_state("tasks.db");
  std::filesystem::permissions(".", std::filesystem::perms::owner_exec);
  const std::string said = error_as_nobody();
  std::filesystem::permissions(".", std::filesystem::perms::owner_all);
  EXPECT_THAT(said, AllOf(HasSubstr("this directory: Permission denied"), HasSubstr("--state")));
}

TEST_F(Unprivileged, is_given_a_file_that_cannot_be_read_where_there_is_no_other) {
  using std::filesystem::perms;
  std::filesystem::permissions(".", perms::owner_all | perms::others_read | perms::others_exec);
  make_state("tasks.db");
  std::filesystem::remove("tasks.db-owner");
  std::filesystem::permissions("tasks.db", perms::none);
  EXPECT_EQ(error_as_nobody(), "found tasks.db");
  make_state("other.db");
  std::filesystem::permissions("other.db", perms::owner_all | perms::others_read);
  EXPECT_EQ(error_as_nobody(), "found other.db");
}

}  // namespace
}  // namespace dutiful
