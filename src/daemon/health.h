// Whether a daemon works.
#pragma once

#include <string>

#include <dutiful/status.h>
#include <dutiful/time.h>

#include "daemon/state_watch.h"
#include "runtime/loop_probe.h"

namespace dutiful {

struct Health {
  bool good = true;
  std::string reason{};  // on one line, also if it is good
};

// Whether the process works at all: a supervisor may restart it otherwise.
[[nodiscard]] Health liveness(LoopProbe::Answer loop);

// Whether it does what it is there for: it has the state and the tasks, can write, and starts what
// is due within `overdue_max`. If it does not, the reason may name a task.
[[nodiscard]] Health readiness(const SchedulerStatus& status,
                               StateFile state,
                               Duration overdue_max,
                               bool name_task = true);

}  // namespace dutiful
