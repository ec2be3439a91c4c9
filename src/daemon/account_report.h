// What became of the pulses of each task, as the state records it.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <dutiful/calendar.h>

#include "account/account.h"

namespace dutiful {

struct TaskRecord;

struct AccountQuery {
  std::optional<std::string> task{};  // only this one
  // Not what is earlier. A stretch is not divided: the account begins with the one that contains
  // this instant.
  std::optional<Instant> since{};
  bool with_stretches = false;         // they need much memory if there are many tasks
  std::string after{};                 // only names that are greater
  std::optional<std::size_t> limit{};  // at most that many tasks, those with the smallest names
};

// The account of a task in [from, until]. Unless the schedule was changed in that time, the parts
// add up: pulses == sum().
struct TaskAccount {
  std::string name{};
  std::string cron{};
  Instant from{};
  Instant until{};          // now; or where the account ends, if the clock has been set back
  std::int64_t pulses = 0;  // Calendar::count of the schedule that is registered now

  PulseFates fates{};
  std::int64_t owed = 0;      // not served yet
  std::int64_t unknown = 0;   // from before the account began
  std::int64_t recurred = 0;  // among the others, but counted twice (RULES T7)

  std::int64_t jumped = 0;  // minutes of the schedule that the clocks jumped over: no pulses (T3)

  // Oldest first, if they were asked for. The last one is open: it lasts until `until`, and what is
  // owed is not in its sums. If the clock was set back, they may overlap.
  std::vector<AccountStretch> stretches{};

  [[nodiscard]] std::int64_t sum() const { return fates.total() + owed + unknown - recurred; }
};

// The account of one task, from its record and the stretches that have ended, oldest first.
[[nodiscard]] TaskAccount account_of(const TaskRecord& record,
                                     std::span<const AccountStretch> ended,
                                     const Calendar& calendar,
                                     const AccountQuery& query,
                                     Instant now);

// The accounts of a state in byte order of the names; empty if it does not have the task that is
// asked for. Reads only the accounts of the tasks that are asked for. Reads any state, also one
// that a daemon holds, without disturbing the daemon. A state of an earlier version has no
// accounts, so its pulses are unknown. Throws as read_sqlite_state() does.
[[nodiscard]] std::vector<TaskAccount> read_account(const std::string& state,
                                                    const Calendar& calendar,
                                                    const AccountQuery& query,
                                                    Instant now);

}  // namespace dutiful
