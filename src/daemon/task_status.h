// How the tasks of a state are doing.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <dutiful/calendar.h>

namespace dutiful {

struct TaskStatus {
  enum class State { awaiting_run, running, awaiting_retry };

  std::string name{};
  std::string cron{};
  State state = State::awaiting_run;
  std::uint32_t attempt = 0;
  std::optional<Instant> last_attempt{};
  std::optional<Instant> last_success{};
  std::optional<Instant> last_failure{};
  std::optional<Instant> retry_at{};
  std::optional<Instant> next_due{};  // after now: the next minute of the expression, or a retry
  std::optional<Instant> overdue_since{};  // it should be running, and is not
};

// From the records alone, so for any state, also one that a daemon holds. In the order of the
// names. Throws as read_sqlite_state() does.
[[nodiscard]] std::vector<TaskStatus> read_status(const std::string& state,
                                                  const Calendar& calendar,
                                                  Instant now);

}  // namespace dutiful
