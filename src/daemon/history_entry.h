// A run as the history shows it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <dutiful/time.h>

#include "commands/command_result.h"
#include "daemon/task_status.h"

namespace dutiful {

struct HistoryEntry {
  // How the run ended, which of some nobody was there to tell. Of those only what the state has
  // recorded is known: the task, the pulse, the attempt and the start.
  enum class End {
    told,         // the result says it
    interrupted,  // the daemon was killed, or crashed, while it ran, or could not record its end
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

}  // namespace dutiful
