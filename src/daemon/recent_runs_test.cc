#include "daemon/recent_runs.h"

#include <filesystem>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/history_file.h"
#include "support/temporary_directory.h"
#include "support/times.h"

namespace dutiful {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

class Recent : public testing::Test {
 protected:
  // Runs of the task, with the results that the letters name.
  void add(const std::string& task, const std::string& letters) {
    std::list<HistoryEntry> entries;
    for (const char letter : letters) {
      HistoryEntry& entry = entries.emplace_back();
      entry.result.run.task = task;
      entry.result.run.attempt = 1;
      entry.result.run.started = start += 1min;
      entry.result.duration = letter == 'i' ? 0s : 3s;
      if (letter == 'i') entry.end = HistoryEntry::End::interrupted;
      if (letter != 'i') entry.result.exit_status = letter == 's' ? 0 : 7;
      if (letter == 'f') entry.result.output = "cannot connect\n";
    }
    if (!file) file.emplace(history_of(state));
    file->write(entries, {}, {});
  }

  TemporaryDirectory directory;
  std::string state = directory.file("state.db");
  Instant start = at("2025-03-03T10:00:00Z");
  std::optional<HistoryFile> file;
  RecentRunsBoard board{state};
};

TEST_F(Recent, are_none_without_a_history) {
  board.refresh();
  EXPECT_EQ(board.of("a"), RecentRuns{});
  EXPECT_EQ(board.of("a").last_result(), std::nullopt);
}

TEST_F(Recent, grow_with_the_history) {
  add("a", "sf");
  board.refresh();
  EXPECT_EQ(board.of("a").results, "sf");
  EXPECT_EQ(board.of("a").duration, 3s);
  EXPECT_THAT(board.of("a").error, HasSubstr("exit status 7: cannot connect"));
  add("b", "i");
  add("a", "s");
  board.refresh();
  EXPECT_EQ(board.of("a").results, "sfs");
  EXPECT_EQ(board.of("a").error, "");
  EXPECT_EQ(board.of("b").results, "i");
  EXPECT_EQ(board.of("b").duration, std::nullopt);
  EXPECT_THAT(board.of("b").error, HasSubstr("no result was recorded"));
  EXPECT_EQ(board.of("c"), RecentRuns{});
}

TEST_F(Recent, are_the_newest_thirty) {
  add("a", "f" + std::string(20, 's') + std::string(10, 'f'));
  board.refresh();
  EXPECT_EQ(board.of("a").results, std::string(20, 's') + std::string(10, 'f'));
  add("a", "i");
  board.refresh();
  EXPECT_EQ(board.of("a").results, std::string(19, 's') + std::string(10, 'f') + 'i');
}

TEST_F(Recent, include_tasks_that_have_not_run_for_long) {
  add("rare", "sf");
  for (int i = 0; i < 300; ++i) add("task " + std::to_string(i), "ss");
  board.refresh();
  EXPECT_EQ(board.of("rare").results, "sf");
  EXPECT_EQ(board.of("task 299").results, "ss");
  EXPECT_THAT(board.of("rare").error, HasSubstr("cannot connect"));
}

TEST_F(Recent, are_forgotten_with_their_tasks) {
  add("a", "s");
  add("b", "s");
  board.refresh();
  board.keep_only({"b"});
  EXPECT_EQ(board.of("a"), RecentRuns{});
  EXPECT_EQ(board.of("b").results, "s");
}

TEST_F(Recent, are_read_from_the_beginning_after_a_stop) {
  add("a", "sf");
  std::stop_source stop;
  stop.request_stop();
  board.refresh(stop.get_token());
  EXPECT_EQ(board.of("a"), RecentRuns{});
  board.refresh();
  EXPECT_EQ(board.of("a").results, "sf");
}

TEST_F(Recent, follow_a_history_that_replaces_another) {
  add("a", "sss");
  board.refresh();
  file.reset();
  // The old file still exists, so the new one cannot have its identity.
  std::filesystem::rename(history_of(state), state + "-old");
  for (const char* suffix : {"-wal", "-shm"}) {
    std::filesystem::remove(history_of(state) + suffix);
  }
  board.refresh();
  EXPECT_EQ(board.of("a"), RecentRuns{});
  add("a", "f");
  add("b", "ffff");
  board.refresh();
  EXPECT_EQ(board.of("a").results, "f");
}

}  // namespace
}  // namespace dutiful
