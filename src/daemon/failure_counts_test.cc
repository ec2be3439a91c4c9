#include "daemon/failure_counts.h"

#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include "support/temporary_directory.h"

namespace dutiful {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class Counts : public testing::Test {
 protected:
  FailureCounts::Options options() {
    return {.state = state,
            .on_failure = [this](const std::exception& error, std::optional<Duration> next_try) {
              const std::lock_guard lock{mutex};
              errors.emplace_back(error.what());
              tries_again = next_try.has_value();
              changed.notify_all();
            }};
  }
  // The counts as the next daemon finds them.
  FailureStreak next(const std::string& task) {
    FailureCounts counts{options()};
    counts.load();
    return counts.of(task);
  }

  // Only reads: a FailureFile would create the tables too, at the same time as the writer.
  [[nodiscard]] bool has_counts() const {
    sqlite3* database = nullptr;
    const bool found =
        sqlite3_open_v2(file.c_str(), &database, SQLITE_OPEN_READONLY, nullptr) == SQLITE_OK &&
        sqlite3_exec(database, "SELECT failures FROM streak", stop_at_first, nullptr, nullptr) ==
            SQLITE_ABORT;
    sqlite3_close(database);
    return found;
  }
  static int stop_at_first(void*, int, char**, char**) { return 1; }

  TemporaryDirectory directory;
  const std::string state = directory.file("tasks.db");
  const std::string file = failures_of(state);
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::string> errors;
  bool tries_again = false;
};

TEST_F(Counts, survive_a_restart) {
  {
    FailureCounts counts{options()};
    counts.load();
    counts.set("a", {.failures = 2});
    counts.set("b", {.failures = 7, .is_notified = true});
    counts.set("a", {.failures = 3, .is_notified = true});
    EXPECT_EQ(counts.of("a"), (FailureStreak{.failures = 3, .is_notified = true}));
  }
  EXPECT_EQ(next("a"), (FailureStreak{.failures = 3, .is_notified = true}));
  EXPECT_EQ(next("b"), (FailureStreak{.failures = 7, .is_notified = true}));
  EXPECT_EQ(next("c"), FailureStreak{});
  EXPECT_THAT(errors, IsEmpty());
}

TEST_F(Counts, are_removed_by_a_success_and_with_their_task) {
  {
    FailureCounts counts{options()};
    for (const char* task : {"well", "gone", "kept"}) counts.set(task, {.failures = 1});
  }
  {
    FailureCounts counts{options()};
    counts.load();
    counts.set("well", {});
    counts.keep_only({"well", "kept"});
    EXPECT_EQ(counts.of("gone"), FailureStreak{});
  }
  EXPECT_EQ(next("well"), FailureStreak{});
  EXPECT_EQ(next("gone"), FailureStreak{});
  EXPECT_EQ(next("kept"), FailureStreak{.failures = 1});
}

TEST_F(Counts, need_no_file_while_nothing_fails) {
  {
    FailureCounts counts{options()};
    counts.load();
    counts.set("a", {});
    counts.keep_only({"a"});
  }
  EXPECT_FALSE(std::filesystem::exists(file));
}

TEST_F(Counts, are_in_a_file_for_its_owner_alone) {
  { FailureCounts{options()}.set("a", {.failures = 1}); }
  using std::filesystem::perms;
  EXPECT_EQ(std::filesystem::status(file).permissions(), perms::owner_read | perms::owner_write);
}

TEST_F(Counts, are_written_when_an_obstacle_is_gone) {
  std::filesystem::create_directory(file);
  {
    FailureCounts counts{options()};
    counts.set("a", {.failures = 4});
    std::unique_lock lock{mutex};
    changed.wait(lock, [this] { return !errors.empty(); });
    EXPECT_TRUE(tries_again);
    EXPECT_EQ(counts.of("a"), FailureStreak{.failures = 4});
    std::filesystem::remove(file);
  }
  EXPECT_EQ(next("a"), FailureStreak{.failures = 4});
}

TEST_F(Counts, begin_at_zero_if_the_file_is_no_file_of_dutiful) {
  std::ofstream{file} << std::string(4096, 'x');
  EXPECT_EQ(next("a"), FailureStreak{});
  ASSERT_EQ(errors.size(), 1U);
  EXPECT_THAT(errors[0], HasSubstr("-failures"));
  EXPECT_FALSE(tries_again);
}

TEST_F(Counts, refuse_a_link) {
  const std::string precious = directory.file("precious");
  std::filesystem::create_symlink(precious, file);
  {
    FailureCounts counts{options()};
    counts.load();
    counts.set("a", {.failures = 1});
  }
  EXPECT_FALSE(std::filesystem::exists(precious));
  EXPECT_THAT(errors, testing::Contains(HasSubstr("symbolic link")));
}

TEST_F(Counts, refuse_a_row_that_dutiful_does_not_write) {
  { FailureCounts{options()}.set("a", {.failures = 1}); }
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(file.c_str(), &database), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(database, "UPDATE streak SET failures = -1", nullptr, nullptr, nullptr),
            SQLITE_OK);
  sqlite3_close(database);
  EXPECT_EQ(next("a"), FailureStreak{});
  EXPECT_EQ(errors.size(), 1U);
}

TEST_F(Counts, follow_a_file_that_is_removed_while_they_are_kept) {
  {
    FailureCounts counts{options()};
    counts.set("a", {.failures = 1});
    while (!has_counts()) {
    }
    std::filesystem::remove(file);
    counts.set("b", {.failures = 2});
  }
  EXPECT_EQ(next("a"), FailureStreak{.failures = 1});
  EXPECT_EQ(next("b"), FailureStreak{.failures = 2});
}

}  // namespace
}  // namespace dutiful
