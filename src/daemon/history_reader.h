// Reads the history, also while a daemon writes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <dutiful/time.h>

#include "daemon/history_entry.h"
#include "daemon/history_path.h"
#include "daemon/run_span.h"
#include "daemon/uptime.h"
#include "store/sqlite/database.h"

namespace dutiful {

class Statement;

enum class RunResult { succeeded, failed, interrupted };
// "succeeded", "failed" or "interrupted", as result_name_of() says it.
[[nodiscard]] const char* name_of(RunResult result) noexcept;

// Which runs. Each condition that is set must hold.
struct RunQuery {
  std::optional<std::string> task{};
  std::optional<RunResult> result{};
  bool unsuccessful = false;             // failed or interrupted
  std::optional<Instant> since{};        // it ended then or later; if interrupted, it started then
  std::optional<Instant> until{};        // it ended before; if interrupted, it started before
  std::string search{};                  // the name contains it, in any case of ASCII letters
  std::size_t limit = 20;                // of the page
  std::optional<std::int64_t> before{};  // the cursor: only runs with a smaller id
  bool with_output = true;               // otherwise only what the error of a run needs
};

// Whether a run is one of those, whatever its id. A run that has not ended is there at any time,
// and is neither failed nor interrupted.
[[nodiscard]] bool matches(const HistoryEntry& entry, const RunQuery& query);

// The newest runs first, in the order in which their ends were recorded.
struct RunPage {
  std::vector<HistoryEntry> runs{};
  std::optional<std::int64_t> next{};  // the cursor of the next page; none: this is the last one
};

// The last runs of a task that have ended; none if the history has none.
struct LastRuns {
  std::optional<HistoryEntry> any{};
  std::optional<HistoryEntry> unsuccessful{};
};

// A run that has ended, without its details.
struct RunSummary {
  std::int64_t id = 0;
  std::string task{};
  RunResult result = RunResult::succeeded;
  Duration duration{};  // zero if it was interrupted
};

// One connection to the history, for one thread at a time. A history that does not exist yet is
// empty. Every call reads the file as it is then, in one short transaction that blocks nobody. If
// the file has been removed or replaced since, make another reader.
//
// Every function throws HistoryError.
class HistoryReader {
 public:
  explicit HistoryReader(const std::string& state);

  [[nodiscard]] RunPage read(const RunQuery& query) const;
  [[nodiscard]] std::optional<HistoryEntry> find(std::int64_t id) const;

  // Of each task, in the order of the names.
  [[nodiscard]] std::vector<LastRuns> read_last(const std::vector<std::string>& tasks) const;

  // The runs with a larger id, oldest first, at most `limit`.
  [[nodiscard]] std::vector<HistoryEntry> read_after(std::int64_t id, std::size_t limit) const;
  // The same, without details. That is many times quicker.
  [[nodiscard]] std::vector<RunSummary> read_summaries_after(std::int64_t id,
                                                             std::size_t limit) const;
  // The newest runs of each of the next tasks after that name, oldest first; none at the end.
  struct Newest {
    std::string after{};      // the name of a task
    std::size_t tasks = 256;  // at most
    std::size_t runs = 0;     // of each, at most
    std::int64_t until = 0;   // the largest id
  };
  [[nodiscard]] std::vector<RunSummary> read_newest_summaries(const Newest& wanted) const;
  // 0 if there is none.
  [[nodiscard]] std::int64_t newest_id() const;

  // Of each task, in the order of the names, oldest first. Requires that no task runs twice at the
  // same time: of those that did, because the clock was set back, some may be missing.
  [[nodiscard]] std::vector<std::vector<RunSpan>> read_spans(const SpanQuery& query) const;
  // When a daemon ran, in the order in which that was recorded. None in a file of an older version.
  [[nodiscard]] std::vector<Uptime> read_uptimes() const;

 private:
  template <typename Work>
  [[nodiscard]] auto translated(Work work) const {
    return translate_history_errors(path_, work);
  }
  [[nodiscard]] RunSummary summary_of(const Statement& row) const;
  [[nodiscard]] std::vector<HistoryEntry> rows_of(Statement& statement) const;
  // The names in the history that contain the text, in byte order.
  [[nodiscard]] std::vector<std::string> names_with(std::string_view text) const;
  template <typename Rows>
  void add_page(const RunQuery& query, std::int64_t before, Rows rows, RunPage& page) const;
  // The smallest id of the runs that ended then or later; the largest number if there are none.
  [[nodiscard]] std::int64_t first_since(const RunQuery& query) const;
  // The largest id of the runs before that id that ended in time; 0 if there are none.
  [[nodiscard]] std::int64_t last_until(const RunQuery& query, std::int64_t before) const;

  std::string path_;
  std::optional<Database> database_;  // none: it does not exist, or has no table yet
  std::int64_t version_ = 0;
};

// The same with a connection that lasts for the call.
[[nodiscard]] RunPage read_runs(const std::string& state, const RunQuery& query);
[[nodiscard]] std::optional<HistoryEntry> read_run(const std::string& state, std::int64_t id);

}  // namespace dutiful
