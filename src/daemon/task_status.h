// How the tasks of a state are doing.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <dutiful/calendar.h>
#include <dutiful/run.h>

#include "store/sqlite/holder.h"

namespace dutiful {

struct TaskStatus {
  enum class State {
    awaiting_run,
    running,
    awaiting_retry,
    interrupted,  // recorded as running by a daemon that is no more, and not started again yet
  };

  std::string name{};
  std::string cron{};
  State state = State::awaiting_run;
  std::uint32_t attempt = 0;  // of the newest run, as the next four
  std::uint64_t fence = 0;
  std::optional<Reason> reason{};  // where the record tells it
  std::optional<Instant> pulse{};
  std::optional<Instant> last_attempt{};
  std::optional<Instant> last_success{};
  std::optional<Instant> last_failure{};
  std::optional<Instant> retry_at{};
  std::optional<Instant> next_due{};  // after now: the next minute of the expression, or a retry
  std::optional<Instant> overdue_since{};  // it should be running, and is not
};

struct StateStatus {
  HolderStatus service{};
  std::vector<TaskStatus> tasks{};  // in the order of their names
};

// Of any state, also one that a daemon holds, which is not disturbed. Throws as read_sqlite_state()
// does.
[[nodiscard]] StateStatus read_status(const std::string& state,
                                      const Calendar& calendar,
                                      Instant now);

// Only those that are interrupted, without a look at when they are due. For who has taken the state
// and not begun with it: what is recorded as running nobody runs any more.
[[nodiscard]] std::vector<TaskStatus> read_interrupted(const std::string& state);

}  // namespace dutiful
