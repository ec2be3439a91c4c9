// The status of the tasks of a state, as the file records it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <dutiful/calendar.h>
#include <dutiful/run.h>

#include "store/sqlite/holder.h"

namespace dutiful {

// A task as the state file records it. The status of a scheduler of this process is a TaskStatus.
struct RecordedTask {
  enum class State {
    awaiting_run,
    running,
    awaiting_retry,
    interrupted,  // the daemon died during the run, which has not been restarted yet
  };

  std::string name{};
  std::string cron{};
  State state = State::awaiting_run;
  std::uint32_t attempt = 0;  // of the newest run, as are the next four
  std::uint64_t fence = 0;
  std::optional<Reason> reason{};  // if the record shows it
  std::optional<Instant> pulse{};
  std::optional<Instant> last_attempt{};
  std::optional<Instant> last_success{};
  std::optional<Instant> last_failure{};
  std::optional<Instant> retry_at{};
  std::optional<Instant> next_due{};       // after now: the next pulse or retry
  std::optional<Instant> overdue_since{};  // since when it should be running, if it is not
};

// Whether its last run that ended has failed, also while it is being retried. A run that was
// interrupted has no result.
[[nodiscard]] bool is_failing(const RecordedTask& task);

struct StateStatus {
  HolderStatus service{};
  std::vector<RecordedTask> tasks{};  // in the order of their names
};

// Reads any state, also one that a daemon holds, without disturbing the daemon. Throws as
// read_sqlite_state() does.
[[nodiscard]] StateStatus read_status(const std::string& state,
                                      const Calendar& calendar,
                                      Instant now);

// Only the interrupted tasks, without when they are due. For a caller that holds the state and has
// started nothing: every run that is recorded as running is interrupted.
[[nodiscard]] std::vector<RecordedTask> read_interrupted(const std::string& state);

}  // namespace dutiful
