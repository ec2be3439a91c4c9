#include "daemon/history.h"

#include <filesystem>
#include <semaphore>

#include <gtest/gtest.h>

#include "support/temporary_directory.h"
#include "support/times.h"

namespace dutiful {
namespace {

HistoryEntry entry(const std::string& task, std::uint32_t attempt, std::size_t output_size = 0) {
  HistoryEntry entry;
  entry.result.run.task = task;
  entry.result.run.attempt = attempt;
  entry.result.exit_status = 0;
  entry.result.output.assign(output_size, 'x');
  return entry;
}

TEST(History, loses_the_oldest_where_too_many_bytes_wait) {
  const TemporaryDirectory directory;
  const std::string state = directory.file("state.db");
  std::filesystem::create_directory(history_of(state));  // cannot be written, at first
  std::binary_semaphore held_up{0};
  std::binary_semaphore go_on{0};
  {
    HistoryWriter writer{{.state = state, .on_failure = [&](const std::string&) {
                            held_up.release();
                            go_on.acquire();
                          }}};
    writer.add(entry("a", 1));
    held_up.acquire();
    for (std::uint32_t attempt = 2; attempt <= 40; ++attempt) {
      writer.add(entry("a", attempt, 1024UL * 1024));
    }
    std::filesystem::remove(history_of(state));
    go_on.release();
  }

  const auto entries = read_history({.state = state, .count = 100});
  ASSERT_EQ(entries.size(), 15U);  // of a little more than 1 MiB, below 16 MiB
  EXPECT_EQ(entries.front().result.run.attempt, 40U);
  EXPECT_EQ(entries.back().result.run.attempt, 26U);
}

TEST(History, forgets_tasks_that_are_gone_and_only_what_is_old) {
  const TemporaryDirectory directory;
  const std::string state = directory.file("state.db");
  const auto old = [](const std::string& task) { return entry(task, 1); };  // of 1970
  const auto recent = [](const std::string& task) {
    HistoryEntry made = entry(task, 2);
    made.result.run.started = at("2025-03-01T00:00:00Z");
    return made;
  };
  {
    HistoryWriter writer{{.state = state}};
    writer.forget_others({"none"}, at("2025-03-01T00:00:00Z"));
  }
  EXPECT_FALSE(std::filesystem::exists(history_of(state)));
  {
    HistoryWriter writer{{.state = state}};
    for (const std::string task : {"kept", "gone"}) {
      writer.add(old(task));
      writer.add(recent(task));
    }
  }
  {
    HistoryWriter writer{{.state = state}};
    writer.forget_others({"kept", "new"}, at("2025-03-01T00:00:00Z"));
  }
  EXPECT_EQ(read_history({.state = state, .task = "kept"}).size(), 2U);
  const auto gone = read_history({.state = state, .task = "gone"});
  ASSERT_EQ(gone.size(), 1U);
  EXPECT_EQ(gone[0].result.run.attempt, 2U);
}

}  // namespace
}  // namespace dutiful
