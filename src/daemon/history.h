// The recent runs of every task, in a file beside the state: written in the background, and read.
#pragma once

#include <cstddef>
#include <exception>
#include <functional>
#include <list>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "daemon/history_entry.h"
#include "daemon/history_error.h"
#include "daemon/history_file.h"
#include "daemon/history_trouble.h"
#include "sync/mutex.h"

namespace dutiful {

class FileRefused;

// <state>-history
[[nodiscard]] std::string history_of(const std::string& state);

// The history cannot be written.
struct HistoryFailure {
  std::string error;
  std::size_t waiting;                   // runs that are kept, to be written later
  std::size_t lost;                      // runs that were dropped; each is told once
  std::optional<Duration> next_try{};    // none: the writer ends
  const FileRefused* refused = nullptr;  // the reason, if it is this
};
// It can be written again.
struct HistoryRecovery {
  std::size_t written;  // of the runs that were waiting
  std::size_t lost;     // as above
};

// Writes runs from a thread of its own, as many as there are at once. A history that is slow or
// cannot be written disturbs nobody (docs/decisions/0005): the runs wait in memory, and it is tried
// again after a while, which grows from 100 ms to 30 s. Of more than 16 MiB that wait, beside those
// that are being written, the oldest are lost.
class HistoryWriter {
 public:
  struct Options {
    std::string state;
    std::size_t runs_max = 100;  // of each task
    // Called by the writer's thread, as seldom as HistoryTrouble says.
    std::function<void(const HistoryFailure&)> on_failure{};
    std::function<void(const HistoryRecovery&)> on_recovery{};
  };
  explicit HistoryWriter(Options options);
  // Tries once to write what is left. What cannot be written is lost, and told.
  ~HistoryWriter();
  HistoryWriter(const HistoryWriter&) = delete;
  HistoryWriter& operator=(const HistoryWriter&) = delete;

  // From any thread, as the next. An interrupted run that is there already stays as it is. Throws
  // where there is no memory for it, and then nothing is added.
  void add(HistoryEntry entry);

  // Forgets what tasks other than these did before that instant.
  void forget_others(std::set<std::string, std::less<>> tasks, Instant before);

 private:
  using Time = HistoryTrouble::Time;
  using Entries = std::list<HistoryEntry>;  // goes from hand to hand without any memory
  struct Others {
    std::set<std::string, std::less<>> than;
    Instant before;
  };
  struct Batch {
    Entries entries;
    std::size_t doubtful;  // the first of them, which a failed transaction may have written
    std::optional<Others> forgotten;
  };
  void loop() noexcept;
  [[nodiscard]] bool has_work() const REQUIRES(mutex_) { return !entries_.empty() || forgotten_; }
  Batch take() REQUIRES(mutex_);
  void give_back(Batch batch) noexcept REQUIRES(mutex_);
  void drop_oldest() REQUIRES(mutex_);
  std::exception_ptr write(Batch& batch) noexcept;
  void report(const std::exception_ptr& error, std::optional<Duration> next_try) noexcept;
  void report(const std::string& error,
              std::optional<Duration> next_try,
              const FileRefused* refused = nullptr);
  void report_recovery(std::size_t written) noexcept;

  const Options options_;
  Mutex mutex_;
  Condition changed_;
  Entries entries_ GUARDED_BY(mutex_);
  std::size_t waiting_bytes_ GUARDED_BY(mutex_) = 0;  // of entries_
  std::size_t doubtful_ GUARDED_BY(mutex_) = 0;       // of entries_
  std::size_t lost_ GUARDED_BY(mutex_) = 0;           // and not told
  std::optional<Others> forgotten_ GUARDED_BY(mutex_);
  bool ending_ GUARDED_BY(mutex_) = false;
  // The thread's own:
  std::optional<HistoryFile> file_;
  HistoryTrouble trouble_;
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
