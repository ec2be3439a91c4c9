// Commands that outlived their daemon: found and ended before anything is started in their place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

#include <dutiful/time.h>

#include "commands/instances.h"

namespace dutiful {

struct Sweep {
  std::size_t ended = 0;         // processes that were killed
  std::vector<int> remaining{};  // processes that do not die
};

// By which runs are told from each other: DUTIFUL_FENCE.
using Fences = std::set<std::uint64_t>;

// Kills what these daemons have left of the runs that their death interrupted, and waits until it
// is gone, so long at most. Of these is
//
//   - a process that carries, in its environment, the name of one and the fence of such a run;
//   - a command that was written down, and all of its session, whatever became of the environment;
//   - a child of one of these, and the session that one of these leads.
//
// What a run that has ended left behind on purpose, such as a service that it started, is of none
// of these kinds: its fence is not among them, and its command is crossed out. A process counts as
// the command that was written down only if it leads a session and was born when that was.
//
// Not reached is, above all, a process that has cleared its environment, has left the session, and
// whose parent is gone (docs/decisions/0007 names the others). Throws where the host does not show
// its processes, or there is no descriptor to look with.
[[nodiscard]] Sweep end_leftovers(const std::vector<Instance>& instances,
                                  const Fences& interrupted,
                                  Duration wait_max);

}  // namespace dutiful
