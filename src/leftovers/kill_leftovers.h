// Kills the leftovers of previous daemons before anything is started in their place.
#pragma once

#include <cstddef>
#include <vector>

#include <dutiful/time.h>

#include "leftovers/leftover_search.h"

namespace dutiful {

struct KilledLeftovers {
  std::size_t count = 0;
  std::vector<int> remaining{};  // processes that did not die in time
};

// Kills the leftovers (leftover_search.h) of these daemons and interrupted runs, and waits at most
// `wait_max` until they no longer exist.
//
// Throws std::runtime_error if the host does not show its processes, and std::system_error if no
// descriptor is left to look at them.
[[nodiscard]] KilledLeftovers kill_leftovers(const std::vector<PreviousDaemon>& daemons,
                                             const Fences& interrupted,
                                             Duration wait_max);

}  // namespace dutiful
