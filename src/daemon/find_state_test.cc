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

// In its own directory.
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

TEST_F(FindState, accepts_a_state_or_its_task_file) {
  EXPECT_EQ(find_state("anywhere/state"), "anywhere/state");
  EXPECT_EQ(find_state("anywhere/tasks.toml"), "anywhere/tasks.db");
}

TEST_F(FindState, finds_the_only_state_among_other_files) {
  make_state("tasks.db");
  run_sql("other.db", "CREATE TABLE theirs (x)");
  std::ofstream{"text.db"} << "this is not a database, whatever its name says";
  std::filesystem::create_directory("directory.db");
  EXPECT_EQ(find_state(std::nullopt), "tasks.db");
}

TEST_F(FindState, asks_for_a_name_if_there_is_no_state_or_several) {
  EXPECT_THAT(error(), AllOf(HasSubstr("there is no state"), HasSubstr("--state")));
  make_state("b.db");
  make_state("a.db");
  EXPECT_THAT(error(), AllOf(HasSubstr("several"), HasSubstr("--state: \"a.db\", \"b.db\"")));
}

TEST_F(FindState, counts_a_state_and_the_links_to_it_once) {
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

TEST_F(FindState, finds_a_damaged_state_so_that_the_caller_reports_the_damage) {
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
  // The result in a child process, which becomes the user nobody if this process runs as root.
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

TEST_F(Unprivileged, learns_that_the_directory_cannot_be_read_not_that_it_has_no_state) {
  make_state("tasks.db");
  std::filesystem::permissions(".", std::filesystem::perms::owner_exec);
  const std::string message = error_as_nobody();
  std::filesystem::permissions(".", std::filesystem::perms::owner_all);
  EXPECT_THAT(message, AllOf(HasSubstr("this directory: Permission denied"), HasSubstr("--state")));
}

TEST_F(Unprivileged, gets_an_unreadable_file_only_if_there_is_no_other) {
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
