// Hunts a mutant of the cluster: tries simulated clusters until the judge finds that it breaks the
// axiom.
//
//   hunt_NAME AXIOM [CLUSTERS]            random clusters
//   hunt_NAME AXIOM exhaustive KINDS      every cluster with one fault of each of these kinds

#include <algorithm>
#include <iostream>
#include <string>
#include <string_view>

#include "sim/cluster_exhaustive.h"
#include "sim/cluster_world.h"

namespace dutiful {
namespace {

using namespace std::chrono_literals;

bool caught_by_random_clusters(std::string_view axiom, std::uint64_t clusters_max) {
  for (std::uint64_t seed = 1; seed <= clusters_max; ++seed) {
    for (const theory::Violation& violation : play(random_cluster(seed, 15min)).violations) {
      if (violation.axiom != axiom) continue;
      std::cout << axiom << " after " << seed << " clusters: " << violation.what << '\n';
      return true;
    }
  }
  std::cout << "not by " << clusters_max << " clusters\n";
  return false;
}

bool caught_by_every_cluster(std::string_view axiom, const std::string& kinds) {
  const auto faults = static_cast<int>(std::ranges::count(kinds, ',') + 1);
  const ExhaustedCluster result = search(ExhaustiveCluster{.faults_max = faults, .kinds = kinds});
  if (!result.violation) {
    std::cout << "not by " << faults << " faults, " << result.states << " states\n";
    return false;
  }
  std::cout << result.violation->axiom << " with " << result.searched << " faults, "
            << result.states << " states: " << result.violation->what << '\n';
  for (const std::string& step : result.counterexample) std::cout << "  " << step << '\n';
  return result.violation->axiom == axiom;
}

}  // namespace
}  // namespace dutiful

int main(int argc, char** argv) {
  if (argc < 2 || argc > 4) return 2;
  if (argc == 4) return dutiful::caught_by_every_cluster(argv[1], argv[3]) ? 0 : 1;
  const std::uint64_t clusters_max = argc == 3 ? std::stoull(argv[2]) : 500;
  return dutiful::caught_by_random_clusters(argv[1], clusters_max) ? 0 : 1;
}
