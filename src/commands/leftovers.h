// Commands that outlived their daemon: found and ended before anything is started in their place.
#pragma once

#include <cstddef>
#include <vector>

#include <dutiful/time.h>

#include "commands/instances.h"

namespace dutiful {

struct Sweep {
  std::size_t ended = 0;         // processes that were killed
  std::vector<int> remaining{};  // processes that do not die
};

// Kills what these daemons have left, and waits until it is gone, so long at most. Theirs is
//
//   - a process that carries the name of one in its environment;
//   - a command that was written down, and all of its session, whatever became of the environment;
//   - a child of one of these, and the session that one of these leads.
//
// Not reached is, above all, a process that has cleared its environment, has left the session, and
// whose parent is gone (docs/decisions/0007 names the others). Throws where the host does not show
// its processes, or there is no descriptor to look with.
[[nodiscard]] Sweep end_leftovers(const std::vector<Instance>& instances, Duration wait_max);

}  // namespace dutiful
