// The newest results of every task.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <dutiful/time.h>

#include "daemon/history_reader.h"
#include "posix/file_identity.h"
#include "sync/mutex.h"

namespace dutiful {

// The newest runs of a task that have ended.
struct RecentRuns {
  static constexpr std::size_t kept = 30;

  // A letter for each, oldest first: `s` succeeded, `f` failed, `i` interrupted.
  std::string results{};
  std::optional<Duration> duration{};  // of the newest one; none if it was interrupted
  std::string error{};                 // why the newest one did not succeed

  [[nodiscard]] std::optional<RunResult> last_result() const;

  friend bool operator==(const RecentRuns&, const RecentRuns&) = default;
};

// Finds the recent runs of a task.
using RecentLookup = std::function<RecentRuns(std::string_view task)>;

// The recent runs of every task, read from the history as it grows: each refresh reads only what
// was added since the last one. So an overview of thousands of tasks costs little each time.
//
// Safe to use from any thread.
class RecentRunsBoard {
 public:
  // Of more tasks, only the runs that are added from now on are shown.
  static constexpr std::size_t tasks_max = 100'000;

  explicit RecentRunsBoard(std::string state) : state_(std::move(state)) {}

  // Reads what the history has gained, until it is asked to stop. While another thread reads the
  // whole history for the first time, it returns at once: an answer with less is better than none.
  // Throws HistoryError; what was read before stays.
  void refresh(const std::stop_token& stop = {});

  // Waits for no file.
  [[nodiscard]] RecentRuns of(std::string_view task) const;

  // Forgets all other tasks.
  void keep_only(const std::set<std::string, std::less<>>& tasks);

 private:
  struct Entry {
    RecentRuns runs;
    std::int64_t newest = 0;  // the id
  };
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view name) const {
      return std::hash<std::string_view>{}(name);
    }
  };
  struct WithoutError {
    std::string task;
    std::int64_t run;
  };

  // These are called by the thread that refreshes.
  void begin_anew(std::optional<FileIdentity> file);
  void read_all(const HistoryReader& reader, const std::stop_token& stop);
  void read_new(const HistoryReader& reader, const std::stop_token& stop);
  void read_errors(const HistoryReader& reader, const std::stop_token& stop);
  void add(const std::vector<RunSummary>& runs);

  // The task, if the run is its newest one.
  [[nodiscard]] Entry* find_newest(const WithoutError& wanted) REQUIRES(mutex_);

  const std::string state_;

  std::mutex refreshing_;             // held by the thread that refreshes, for the next three
  std::optional<FileIdentity> file_;  // that was read
  std::int64_t read_until_ = 0;       // the id of the last run that was read
  std::vector<WithoutError> without_error_;  // runs whose error was not read yet
  std::atomic<bool> is_complete_ = false;    // the history has been read once

  mutable Mutex mutex_;  // never held while a file is read
  std::unordered_map<std::string, Entry, Hash, std::equal_to<>> tasks_ GUARDED_BY(mutex_);
};

}  // namespace dutiful
