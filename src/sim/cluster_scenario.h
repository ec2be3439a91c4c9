// A simulated cluster: its members, their lists, and what befalls them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <dutiful/zone.h>

#include "cluster/effect.h"
#include "core/policies.h"
#include "core/task.h"

namespace dutiful {

struct ClusterFault {
  enum class Kind : std::uint8_t {
    crash,             // the process dies, and starts again after a while
    pause,             // the process stands still, its guard does not
    break_connection,  // with whatever is on its way
    partition,         // the host does not reach the database
    slow_network,      // of the host
    database_pause,    // nothing is executed
    database_restart,  // every connection breaks
    database_forgets,  // a standby takes over that lacks the last transactions
    clock_step,        // of the database
    failing_commits,   // of the host
    leave,             // stop(), and initialize() after a while
    change_list,       // initialize() with another list
    lost_notifications,
  };
  // What becomes of the request on a connection that breaks.
  enum class Fate : std::uint8_t { never_executed, executed, executed_late };

  Instant at;
  Kind kind{};
  std::size_t host = 0;
  Duration length{};
  cluster::Channel channel{};
  Fate fate{};
  bool waits = false;  // for what it is to hit: the next request, or a run that is about to begin
  std::size_t list = 0;
};

[[nodiscard]] std::string_view name_of(ClusterFault::Kind kind);

struct ClusterList {
  std::vector<TaskConfig> tasks{};
  cluster::ListVersion version = 0;
};

struct ClusterScenario {
  std::uint64_t seed = 0;  // of everything that is not said here: latencies, durations of runs
  Zone zone = Zone::utc();
  std::size_t hosts = 1;
  std::size_t shards = 1;
  Duration lease{};
  Policies policies{};
  std::vector<ClusterList> lists;
  Instant begin;
  Instant end;
  std::vector<ClusterFault> faults;  // in time order
};

// A scenario of about this length. After the last fault there is time to make up for it.
[[nodiscard]] ClusterScenario random_cluster(std::uint64_t seed, Duration length);

}  // namespace dutiful
