// A host of a simulated cluster: a clock of its own, a process that may stand still, and a guard
// that ends its runs with the lease.
#pragma once

#include <array>
#include <map>
#include <optional>

#include "cluster/member.h"
#include "sim/cluster_scenario.h"

namespace dutiful {

struct ClusterHost {
  // A run that really runs, from when it began.
  struct RealRun {
    std::uint64_t number = 0;
  };
  struct Connection {
    std::uint64_t number = 0;  // changes with each new one
    bool is_open = false;
    std::optional<std::uint64_t> request{};  // on its way to the database
  };

  // The boot clock runs at its own rate, within what the lease allows for.
  [[nodiscard]] cluster::BootTime boot(Instant now) const {
    const auto passed = (now - begin).count();
    return cluster::BootTime{Duration{passed + passed * drift_ppm / 1'000'000} + booted};
  }
  // The first instant at which the boot clock shows this time.
  [[nodiscard]] Instant when(cluster::BootTime time) const {
    if (time == cluster::BootTime::max()) return Instant::max();
    const auto shown = (time.time_since_epoch() - booted).count();
    Instant at = begin + Duration{shown - shown * drift_ppm / 1'000'000 - 2};
    while (boot(at) < time) at += Duration{1};
    return at;
  }

  void extend_lease(cluster::BootTime until) {
    lease_until = until;
    lease_ends = until == cluster::BootTime::min() ? Instant::min() : when(until);
  }

  // A fault that waits for what it is to hit.
  struct Break {
    ClusterFault::Fate fate{};
    Duration late{};
  };

  Instant begin;
  Duration booted{};
  std::int64_t drift_ppm = 0;

  std::optional<cluster::Member> member{};  // none: its process does not run
  std::uint64_t process = 0;                // changes with each start
  std::size_t list = 0;
  cluster::MemberId stopping{};  // as which it was asked to stop
  Duration away{};               // how long it stays away then
  Instant paused_until = Instant::min();
  Instant cut_off_until = Instant::min();
  Instant slow_until = Instant::min();
  Instant fails_until = Instant::min();
  std::array<Connection, 2> connections{};
  std::array<std::optional<Break>, 2> breaks{};  // each connection, at its next request
  std::optional<Duration> pause{};               // when a run is next about to begin
  std::map<cluster::RunKey, RealRun> runs{};
  std::uint64_t ended_runs = 0;                              // how often all of them had to end
  cluster::BootTime lease_until = cluster::BootTime::min();  // what the guard knows
  Instant lease_ends = Instant::min();                       // the same, by the true time
  Instant wake = Instant::max();
};

}  // namespace dutiful
