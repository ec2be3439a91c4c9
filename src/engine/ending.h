// The end of a run.
#pragma once

#include <string>

#include <dutiful/time.h>

#include "core/core.h"

namespace dutiful {

// What the runtime knows about it.
struct Ending {
  Outcome outcome;
  std::string error{};
  Instant at;         // when the callback returned (RULES H10)
  Duration duration;  // by the monotonic clock
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
