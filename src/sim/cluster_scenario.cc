#include "sim/cluster_scenario.h"

#include <algorithm>
#include <array>

#include "sim/dice.h"

namespace dutiful {
namespace {

using namespace std::chrono_literals;
using Kind = ClusterFault::Kind;

constexpr std::array<std::string_view, 13> kind_names{"crash",
                                                      "pause",
                                                      "break_connection",
                                                      "partition",
                                                      "slow_network",
                                                      "database_pause",
                                                      "database_restart",
                                                      "database_forgets",
                                                      "clock_step",
                                                      "failing_commits",
                                                      "leave",
                                                      "change_list",
                                                      "lost_notifications"};

constexpr std::array<const char*, 4> crons{
    "* * * * *", "* * * * *", "0,2,4,6,8,10-59 * * * *", "1,3,5,7,9,20,30-45 * * * *"};
constexpr std::array<const char*, 6> names{"a", "b", "c", "d", "e", "f"};

// More often what concerns one member, and less often what concerns all.
constexpr std::array<Kind, 19> kinds{Kind::crash,
                                     Kind::crash,
                                     Kind::pause,
                                     Kind::pause,
                                     Kind::pause,
                                     Kind::break_connection,
                                     Kind::break_connection,
                                     Kind::break_connection,
                                     Kind::break_connection,
                                     Kind::break_connection,
                                     Kind::partition,
                                     Kind::partition,
                                     Kind::slow_network,
                                     Kind::database_pause,
                                     Kind::database_restart,
                                     Kind::failing_commits,
                                     Kind::leave,
                                     Kind::change_list,
                                     Kind::lost_notifications};

class Generator {
 public:
  explicit Generator(std::uint64_t seed) : dice_(seed) { scenario_.seed = seed; }

  ClusterScenario make(Duration length) {
    scenario_.hosts = static_cast<std::size_t>(dice_.between(1, 5));
    scenario_.shards = static_cast<std::size_t>(dice_.between(1, 8));
    scenario_.lease = dice_.one_of(std::array<Duration, 5>{2s, 5s, 10s, 10s, 20s});
    if (dice_.chance(25)) {
      scenario_.policies.max_concurrent = static_cast<std::size_t>(dice_.between(1, 2));
    }
    if (dice_.chance(20)) scenario_.policies.override = Override::reset_history;
    const int lists = dice_.between(1, 3);
    for (int i = 0; i < lists; ++i) scenario_.lists.push_back({.tasks = list()});
    scenario_.begin = std::chrono::sys_days{std::chrono::year{2026} / 3 / 1} + dice_.up_to(24h);
    scenario_.end = scenario_.begin + length;

    const Duration quiet = std::min<Duration>(length / 4, 4min);
    // What the judge can say less about happens in few worlds.
    const bool steps = dice_.chance(15);
    const bool forgets = dice_.chance(3);
    const int faults = dice_.between(10, 24);
    for (int i = 0; i < faults; ++i) {
      const Kind kind = steps && dice_.chance(10) ? Kind::clock_step : dice_.one_of(kinds);
      add(kind, scenario_.begin + 1s + dice_.up_to(length - quiet));
    }
    if (forgets) {
      add(Kind::database_forgets, scenario_.begin + 10s + dice_.up_to(length - quiet - 10s));
    }
    std::ranges::stable_sort(scenario_.faults, {}, &ClusterFault::at);
    if (dice_.chance(15)) {
      for (ClusterList& list : scenario_.lists) list.version = dice_.below(3);
    }
    return std::move(scenario_);
  }

 private:
  std::vector<TaskConfig> list() {
    std::vector<TaskConfig> list;
    for (const char* name : names) {
      if (!list.empty() && dice_.chance(45)) continue;
      list.push_back({.name = name,
                      .cron = dice_.one_of(crons),
                      .retry_delay = dice_.one_of(std::array<Duration, 4>{0s, 1s, 20s, 90s})});
      if (list.back().retry_delay == 0s) list.back().retry_delay = Duration{5};
    }
    return list;
  }

  void add(Kind kind, Instant at) {
    ClusterFault fault{.at = at, .kind = kind, .host = dice_.below(scenario_.hosts)};
    fault.waits = dice_.chance(50);
    const Duration lease = scenario_.lease;
    switch (kind) {
      case Kind::crash:
      case Kind::leave:
        fault.length = dice_.up_to(dice_.chance(50) ? 2 * lease : 3min);
        break;
      case Kind::pause:
      case Kind::partition:
      case Kind::database_pause:
        // Around a lease, because that is where it matters.
        fault.length = dice_.up_to(dice_.chance(70) ? 2 * lease : 4 * lease);
        break;
      case Kind::break_connection:
        fault.channel = dice_.chance(70) ? cluster::Channel::work : cluster::Channel::renewals;
        fault.fate = static_cast<ClusterFault::Fate>(dice_.below(3));
        fault.length = dice_.up_to(2 * lease);  // how late
        // Then its shards move before it knows what has happened.
        if (fault.waits && dice_.chance(25)) {
          const Instant minute = std::chrono::ceil<std::chrono::minutes>(at);
          const Kind moves = dice_.one_of(std::array{Kind::change_list, Kind::leave, Kind::crash});
          add(moves, minute + dice_.up_to(5s));
        }
        break;
      case Kind::slow_network:
      case Kind::lost_notifications:
        fault.length = dice_.up_to(2min);
        break;
      case Kind::database_restart:
        fault.length = dice_.up_to(5s);
        break;
      case Kind::database_forgets:
        fault.length = dice_.up_to(3s);
        break;
      case Kind::clock_step:
        fault.length = dice_.chance(60) ? dice_.up_to(5min) : -dice_.up_to(20s);
        break;
      case Kind::failing_commits:
        fault.length = dice_.up_to(dice_.chance(50) ? 2s : 2 * lease);
        break;
      case Kind::change_list: {
        // The others follow, one by one.
        fault.list = dice_.below(scenario_.lists.size());
        for (std::size_t host = 0; host < scenario_.hosts; ++host) {
          if (host == fault.host) continue;
          ClusterFault follows = fault;
          follows.host = host;
          follows.at += dice_.up_to(dice_.chance(50) ? 2s : 40s);
          scenario_.faults.push_back(follows);
        }
        break;
      }
    }
    scenario_.faults.push_back(fault);
  }

  Dice dice_;
  ClusterScenario scenario_;
};

}  // namespace

std::string_view name_of(ClusterFault::Kind kind) {
  return kind_names[static_cast<std::size_t>(kind)];
}

ClusterScenario random_cluster(std::uint64_t seed, Duration length) {
  return Generator{seed}.make(length);
}

}  // namespace dutiful
