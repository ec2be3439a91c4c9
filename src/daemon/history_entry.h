// A run as the history shows it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <dutiful/time.h>

#include "commands/command_result.h"
#include "daemon/task_status.h"

namespace dutiful {

struct HistoryEntry {
  // How the run ended. If its end is not recorded, only what the state records is known: the task,
  // the pulse, the attempt and the start.
  enum class End {
    recorded,     // the result says how
    interrupted,  // the daemon was killed or crashed during the run, or could not record its end
    none,         // it is still running
  };

  std::int64_t id = 0;  // in its history, where no other run ever has it; 0: it is in none
  CommandResult result{};
  std::optional<Instant> scheduled{};  // when it should have started
  End end = End::recorded;
  bool reason_known = true;      // false if the record does not say it
  bool to_be_restarted = false;  // it was interrupted and has not been restarted yet
};

// "running", "interrupted", "succeeded" or "failed".
[[nodiscard]] const char* result_name_of(const HistoryEntry& entry);

// Why the run did not succeed; empty if it succeeded or still runs.
[[nodiscard]] std::string error_of(const HistoryEntry& entry);

// How late it started. Unknown for a first run (boot), because its task did not exist when its
// minute began. A run that was restarted after an interruption is late since its pulse.
[[nodiscard]] std::optional<Duration> lateness_of(const HistoryEntry& entry);

// The newest run of a task, if it is still running or was interrupted according to the record.
[[nodiscard]] std::optional<HistoryEntry> unfinished_run(const RecordedTask& task, Instant now);

// The runs that the end of the previous daemon interrupted and that have not been restarted. For a
// caller that holds the state and has started nothing. Throws as read_sqlite_state() does.
[[nodiscard]] std::vector<HistoryEntry> interrupted_runs(const std::string& state, Instant now);

}  // namespace dutiful
