// Hunts a mutant: tries simulated worlds until the judge finds that it breaks the axiom.
//
//   hunt_NAME AXIOM

#include <iostream>
#include <string_view>

#include "sim/exhaustive.h"
#include "sim/judge.h"
#include "sim/play.h"
#include "sim/random_scenario.h"

namespace dutiful {
namespace {

using namespace std::chrono_literals;

constexpr int worlds_max = 400;
constexpr int depth_max = 6;

bool caught_by_random_worlds(std::string_view axiom) {
  std::size_t events = 0;
  for (int seed = 1; seed <= worlds_max; ++seed) {
    const Scenario scenario = random_scenario(static_cast<std::uint64_t>(seed), 6h);
    Judge judge{scenario};
    play(scenario, judge);
    events += judge.events();
    for (const theory::Violation& violation : judge.violations()) {
      if (violation.axiom != axiom) continue;
      std::cout << axiom << " after " << seed << " random worlds, " << events
                << " events: " << violation.what << '\n';
      return true;
    }
  }
  std::cout << "not by " << worlds_max << " random worlds\n";
  return false;
}

bool caught_by_exhaustive_worlds(std::string_view axiom) {
  for (const int tasks : {1, 2}) {
    for (const auto reinitialize : {Reinitialize::reject, Reinitialize::reconcile}) {
      Exhaustive options{.tasks = tasks, .depth_max = depth_max};
      options.policies.reinitialize = reinitialize;
      const Exhausted result = search(options);
      if (!result.violation) continue;
      std::cout << result.violation->axiom << " in every world of " << result.depth + 1
                << " steps with " << tasks << (tasks == 1 ? " task, " : " tasks, ") << result.states
                << " states: " << result.violation->what << '\n';
      return result.violation->axiom == axiom;
    }
  }
  std::cout << "not by every world of " << depth_max << " steps\n";
  return false;
}

}  // namespace
}  // namespace dutiful

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const bool by_random = dutiful::caught_by_random_worlds(argv[1]);
  const bool by_exhaustive = dutiful::caught_by_exhaustive_worlds(argv[1]);
  return by_random || by_exhaustive ? 0 : 1;
}
