// Writes the history: the recent runs of every task, in a file beside the state.
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
#include "daemon/history_path.h"
#include "daemon/history_trouble.h"
#include "daemon/uptime.h"
#include "sync/mutex.h"

namespace dutiful {

class FileRefused;

// The history cannot be written.
struct HistoryFailure {
  std::string error;
  std::size_t waiting;                   // runs kept in memory, to be written later
  std::size_t lost;                      // runs dropped since the last report
  std::optional<Duration> next_try{};    // none: the writer is ending
  const FileRefused* refused = nullptr;  // set if access to the file was refused
};
// The history can be written again.
struct HistoryRecovery {
  std::size_t written;  // of the runs that were waiting
  std::size_t lost;     // as above
};

// Writes runs in its own thread, all that are waiting in one transaction. A history that is slow or
// cannot be written delays no task (docs/decisions/0005): the runs wait in memory, and the writer
// retries with a delay that grows from 100 ms to 30 s. If more than 16 MiB are waiting, in addition
// to the runs being written, the oldest are lost. A run for which there is no memory is lost too.
class HistoryWriter {
 public:
  struct Options {
    std::string state;
    Retention retention{};
    // Called by the writer's thread, no more often than HistoryTrouble allows.
    std::function<void(const HistoryFailure&)> on_failure{};
    std::function<void(const HistoryRecovery&)> on_recovery{};
    // The clock, for the uptime. Called by the writer's thread.
    std::function<Instant()> now{};
    // How often the uptime is recorded while there is nothing else to write. None: then it is not,
    // and an idle daemon does not wake.
    std::optional<Duration> heartbeat{};
  };
  explicit HistoryWriter(Options options);
  // Tries once more to write the waiting runs. Runs that cannot be written are lost and reported.
  ~HistoryWriter();
  HistoryWriter(const HistoryWriter&) = delete;
  HistoryWriter& operator=(const HistoryWriter&) = delete;

  // This daemon runs since that instant. From now on, its uptime is recorded: now, with every run,
  // at every heartbeat and when the writer ends. To be called once, if there is a clock.
  void begin_uptime(Instant since);
  // That instant; none before.
  [[nodiscard]] std::optional<Instant> up_since();

  // Adds a run, from any thread. An interrupted run that the file already has is left as it is. If
  // memory runs out, throws and adds nothing.
  void add(HistoryEntry entry);
  // A run has ended and could not be added, because memory ran out. From any thread.
  void add_lost() noexcept;

  // Deletes the runs that started before that instant, except those of these tasks. From any
  // thread.
  void prune_removed(std::set<std::string, std::less<>> tasks, Instant before);

 private:
  using Time = HistoryTrouble::Time;
  using Entries = std::list<HistoryEntry>;  // can be moved around without allocating
  struct Pruning {
    std::set<std::string, std::less<>> tasks;  // to be kept
    Instant before;
  };
  struct Batch {
    Entries entries;
    std::size_t in_doubt;  // how many of the first a failed transaction may have written
    std::optional<Pruning> pruning;
    std::optional<Instant> up_since;
  };
  void loop() noexcept;
  [[nodiscard]] bool has_work() const REQUIRES(mutex_) {
    return !entries_.empty() || pruning_ || beat_is_due_ || is_memory_exhausted_;
  }
  void await_work(Lock& lock, Time next_beat) REQUIRES(mutex_);
  Batch take() REQUIRES(mutex_);
  void put_back(Batch batch) noexcept REQUIRES(mutex_);
  void drop_oldest() REQUIRES(mutex_);
  std::exception_ptr write(Batch& batch) noexcept;
  std::vector<Uptime> look_at_clock(const Batch& batch);
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
  std::size_t in_doubt_ GUARDED_BY(mutex_) = 0;       // of entries_
  std::size_t lost_ GUARDED_BY(mutex_) = 0;           // and not reported yet
  // Runs were lost by it, which the thread has not seen yet.
  bool is_memory_exhausted_ GUARDED_BY(mutex_) = false;
  std::optional<Pruning> pruning_ GUARDED_BY(mutex_);
  std::optional<Instant> up_since_ GUARDED_BY(mutex_);
  bool beat_is_due_ GUARDED_BY(mutex_) = false;  // the uptime is to be recorded
  bool ending_ GUARDED_BY(mutex_) = false;
  // Used by the thread only:
  std::optional<HistoryFile> file_;
  HistoryTrouble trouble_;
  UptimeFollower uptime_;
  std::thread thread_;
};

}  // namespace dutiful
