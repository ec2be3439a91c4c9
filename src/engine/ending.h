// The end of a run.
#pragma once

#include <string>

#include <dutiful/time.h>

#include "core/core.h"

namespace dutiful {

// As the runtime knows it.
struct Ending {
  Outcome outcome;
  std::string error{};
  Instant at;         // when the callback returned (RULES H10)
  Duration duration;  // by a clock that is never set
};

// As the trace and the reporter need it. The store takes the progress that the core has by then.
struct End {
  TaskId task;
  std::string name;  // the task may be gone, or another, when the end is recorded
  Ending ending;
  Instant at;        // when it counts from: when it is recorded (H5)
  Instant retry_at;  // no_instant: no retry follows
};

}  // namespace dutiful
