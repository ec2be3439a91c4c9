// A virtual cluster: members, their hosts and network, and one database, in one deterministic
// world.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <vector>

#include "sim/cluster_scenario.h"
#include "theory/verdict.h"

namespace dutiful {

struct ClusterVerdict {
  std::vector<theory::Violation> violations;
  std::size_t events = 0;  // that the judge saw
  std::size_t runs = 0;    // that really began
  std::size_t faults = 0;
  // How often it was measured how long they took.
  std::size_t restarts = 0;   // of what ran on a member that died
  std::size_t handovers = 0;  // of the shards of a member that died or stopped
};

// Plays the scenario with the same members that run in real clusters, and judges what really
// happened: what became durable, in the order in which it did, and when each run really began and
// ended. The log, if any, gets a line for everything that happens.
[[nodiscard]] ClusterVerdict play(const ClusterScenario& scenario, std::ostream* log = nullptr);

}  // namespace dutiful
