// The recent runs of every task, in a file beside the state: written in the background, and read.
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <dutiful/error.h>

#include "daemon/history_entry.h"
#include "sync/mutex.h"

namespace dutiful {

class FileRefused;

// The history cannot be read or written; the state is another file, and may be well.
class HistoryError : public Error {
 public:
  HistoryError(std::string file, std::string reason);
  [[nodiscard]] std::string_view name() const noexcept override { return "HistoryError"; }
  [[nodiscard]] std::vector<ErrorField> fields() const override {
    return {{"file", file_}, {"reason", reason_}};
  }

 private:
  std::string file_;
  std::string reason_;
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
    std::function<void(const FileRefused&)> on_refused{};  // before that, if this is the reason
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
  struct Others {
    std::set<std::string, std::less<>> than;
    Instant before;
  };
  void loop() noexcept;
  void report(const char* error, const FileRefused* refused = nullptr) noexcept;

  const Options options_;
  Mutex mutex_;
  Condition changed_;
  std::deque<HistoryEntry> entries_ GUARDED_BY(mutex_);
  std::size_t waiting_bytes_ GUARDED_BY(mutex_) = 0;  // of entries_
  std::optional<Others> forgotten_ GUARDED_BY(mutex_);
  bool ending_ GUARDED_BY(mutex_) = false;
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
