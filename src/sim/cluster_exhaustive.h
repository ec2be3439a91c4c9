// Every simulated cluster of two members with a few faults.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <dutiful/time.h>

#include "theory/verdict.h"

namespace dutiful {

struct ExhaustiveCluster {
  int faults_max = 100;
  int repeats = 1;  // how often a kind of fault happens at most
  // Of faults, separated by commas; all if empty: crash, pause, break, slow, lost_notification,
  // failing_commit, change_list, stop. Fewer go deeper; late_commit is a break of a connection with
  // a commit on its way, and nothing else.
  std::string kinds{};

  // Called from time to time with the number of faults being searched and of the states found with
  // these; returns whether to continue.
  std::function<bool(int faults, std::size_t states)> proceed = [](int, std::size_t) {
    return true;
  };
};

struct ExhaustedCluster {
  int faults = -1;         // everything that can happen with this many faults was tried
  int searched = -1;       // the last search was for this many
  std::size_t states = 0;  // different ones, in that search
  std::size_t steps = 0;   // tried from these states
  // From any of these states, without further faults, until everything is settled.
  Duration settles{};
  std::vector<std::string> counterexample{};  // the steps that lead to the violation
  std::optional<theory::Violation> violation{};
};

// Tries everything that can happen to a cluster of two members, one shard and one task with no
// fault, with one, with two and so on, and judges what really happens (RULES N2–N6). A state met
// before is not explored again.
[[nodiscard]] ExhaustedCluster search(const ExhaustiveCluster& options);

}  // namespace dutiful
