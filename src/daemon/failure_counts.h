// The failures in a row of every task that has notifications, across restarts.
#pragma once

#include <chrono>
#include <exception>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>

#include "daemon/failure_file.h"
#include "daemon/failure_streak.h"
#include "daemon/history_trouble.h"
#include "sync/mutex.h"

namespace dutiful {

// A count is known at once and written shortly after, by a thread that exists only after the first
// change: a slow disk delays no task. If the file cannot be written, the counts stay in memory, and
// the writer retries with a delay that grows from 100 ms to 30 s. A daemon that is killed may lose
// the changes of its last moment.
//
// Safe to use from any thread, except as noted.
class FailureCounts {
 public:
  struct Options {
    std::string state;
    // The file cannot be used. There is no next try if the daemon is ending, or if the file could
    // not be read: then every count begins at zero.
    std::function<void(const std::exception& error, std::optional<Duration> next_try)> on_failure;
  };
  explicit FailureCounts(Options options);
  // Tries once more to write the changes.
  ~FailureCounts();
  FailureCounts(const FailureCounts&) = delete;
  FailureCounts& operator=(const FailureCounts&) = delete;

  // Reads the file, if there is one. Before anything else, by the holder of the state.
  void load() noexcept;

  [[nodiscard]] FailureStreak of(std::string_view task) const;
  // If memory runs out, throws and changes nothing.
  void set(const std::string& task, FailureStreak streak);
  // Forgets all other tasks.
  void keep_only(const std::set<std::string, std::less<>>& tasks);

 private:
  using Time = HistoryTrouble::Time;

  void start_thread() noexcept REQUIRES(mutex_);
  void loop() noexcept;
  void write(FailureStreaks changes);
  void report(const std::exception& error, std::optional<Duration> next_try) noexcept;

  const Options options_;
  mutable Mutex mutex_;
  Condition changed_;
  FailureStreaks streaks_ GUARDED_BY(mutex_);
  FailureStreaks unwritten_ GUARDED_BY(mutex_);  // the changes, with 0 failures for a removal
  bool ending_ GUARDED_BY(mutex_) = false;
  std::thread thread_ GUARDED_BY(mutex_);
  // Used by the thread only:
  std::optional<FailureFile> file_;
  HistoryTrouble trouble_;
};

}  // namespace dutiful
