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

#include <dutiful/error.h>

#include "commands/command_result.h"
#include "daemon/task_status.h"

namespace dutiful {

struct HistoryEntry {
  // How the run ended, which of some nobody was there to tell. Of those only what the state has
  // recorded is known: the task, the pulse, the attempt and the start.
  enum class End {
    told,         // the result says it
    interrupted,  // the daemon was killed, or crashed, while it ran
    none,         // it runs
  };

  CommandResult result{};
  std::optional<Instant> scheduled{};  // when it should have started
  End end = End::told;
  bool reason_known = true;      // false where the record does not tell it
  bool to_be_restarted = false;  // it was interrupted, and has not been started again yet
};

// How late it started. Of a first run (boot) nobody can say: its task was not there when its minute
// began. One that is run again after an interruption is late since its pulse.
[[nodiscard]] std::optional<Duration> lateness_of(const HistoryEntry& entry);

// The newest run of a task, if its record says that it runs or was interrupted.
[[nodiscard]] std::optional<HistoryEntry> unfinished_run(const TaskStatus& task, Instant now);

// The runs that died with a daemon before, and that nobody has started again: for who has taken the
// state and not begun with it. Throws as read_sqlite_state() does.
[[nodiscard]] std::vector<HistoryEntry> interrupted_runs(const std::string& state, Instant now);

// The history cannot be read or written; the state is another file, and may be well.
class HistoryError : public Error {
 public:
  HistoryError(const std::string& file, const std::string& reason);
  [[nodiscard]] std::string_view name() const noexcept override { return "HistoryError"; }
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

  // From any thread, as the next. An interrupted run that is there already stays as it is. Throws
  // where there is no memory for it, and then nothing is added.
  void add(HistoryEntry entry);

  // Forgets what tasks other than these did before that instant.
  void forget_others(std::set<std::string, std::less<>> tasks, Instant before);

 private:
  class File;
  struct Others {
    std::set<std::string, std::less<>> than;
    Instant before;
  };
  void loop() noexcept;
  void report(const char* error) noexcept;

  const Options options_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<HistoryEntry> entries_;
  std::size_t waiting_bytes_ = 0;  // of entries_
  std::optional<Others> forgotten_;
  bool ending_ = false;
  // The thread's own:
  std::deque<HistoryEntry> taken_;  // made before it, for even an empty one needs memory
  std::string told_;                // the last failure: one that stays is told once
  std::thread thread_;
};

// The newest runs, newest first: of one task or of all. None where there is no history yet. Throws
// HistoryError.
struct HistoryQuery {
  std::string state;
  std::optional<std::string> task{};
  std::size_t count = 20;
};
[[nodiscard]] std::vector<HistoryEntry> read_history(const HistoryQuery& query);

}  // namespace dutiful
