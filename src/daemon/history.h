// The recent runs of every task, in an SQLite file of their own beside the state.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "commands/command_result.h"

namespace dutiful {

struct HistoryEntry {
  CommandResult result{};
  std::optional<Instant> scheduled{};  // when it should have started
};

// <state>-history
[[nodiscard]] std::string history_of(const std::string& state);

// Writes runs from a thread of its own, as many as there are at once. A history that is slow or
// cannot be written disturbs nobody (docs/decisions/0005): entries are lost, and the reason is
// told.
class HistoryWriter {
 public:
  struct Options {
    std::string state;
    std::size_t runs_max = 100;  // of each task
    std::function<void(const std::string&)> on_failure{};
  };
  explicit HistoryWriter(Options options);
  // Writes what is left.
  ~HistoryWriter();
  HistoryWriter(const HistoryWriter&) = delete;
  HistoryWriter& operator=(const HistoryWriter&) = delete;

  // From any thread, as the next.
  void add(HistoryEntry entry);

  // Forgets what tasks other than these did before that instant.
  void forget_others(std::set<std::string, std::less<>> tasks, Instant before);

 private:
  class File;
  struct Others {
    std::set<std::string, std::less<>> than;
    Instant before;
  };
  void loop();

  const Options options_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<HistoryEntry> entries_;
  std::size_t waiting_bytes_ = 0;  // of entries_
  std::optional<Others> forgotten_;
  bool ending_ = false;
  std::thread thread_;
};

// The newest runs, newest first: of one task or of all. None where there is no history yet. Throws
// StoreError.
struct HistoryQuery {
  std::string state;
  std::optional<std::string> task{};
  std::size_t count = 20;
};
[[nodiscard]] std::vector<HistoryEntry> read_history(const HistoryQuery& query);

}  // namespace dutiful
