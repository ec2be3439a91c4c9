// The end of a run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <dutiful/time.h>

#include "core/core.h"

namespace dutiful {

// How the process of a run ended, if the run was a command.
struct ProcessEnd {
  std::optional<std::int64_t> process{};  // its id
  std::optional<std::int64_t> exit_status{};
  std::optional<std::int64_t> signal{};  // that ended it
};

// What the runtime knows about it.
struct Ending {
  Outcome outcome;
  std::string error{};
  Instant at;         // when the callback returned (RULES H10)
  Duration duration;  // by the monotonic clock
  // Of the start: the core forgets them when the task is registered again during the run.
  Reason reason{};
  std::uint32_t attempt = 1;
  ProcessEnd process{};
};

// What the trace and the reporter need. The store gets the progress that the core has when the end
// is recorded.
struct End {
  TaskId task;
  std::string name;  // the task may no longer exist when the end is recorded
  Ending ending;
  Instant at;        // when it is recorded, which is when it counts from (H5)
  Instant retry_at;  // no_instant: no retry follows
};

}  // namespace dutiful
