// Tries the engine in worlds that nobody has thought of, and judges it by the theory.
//
//   worlds random --seed 1 --years 100     random worlds, one after the other
//   worlds exhaustive --tasks 1 --seconds 120   every world of a few steps
//   worlds cluster --seed 1 --worlds 1000       random clusters
//   worlds cluster --exhaustive --seconds 120   every cluster with a few faults

#include <array>
#include <chrono>
#include <iostream>

#include <unistd.h>

#include "cli/command_line.h"
#include "cli/number_argument.h"
#include "sim/cluster_exhaustive.h"
#include "sim/cluster_world.h"
#include "sim/exhaustive.h"
#include "sim/judge.h"
#include "sim/play.h"
#include "sim/random_scenario.h"
#include "sim/shrink.h"
#include "time/iso8601.h"

namespace dutiful {
namespace {

using namespace std::chrono_literals;

// Of every sixteen worlds, so long: the short ones are busy, the long ones meet every DST change.
constexpr std::array<Duration, 16> lengths{
    6h, 6h, 6h, 6h, 6h, 72h, 72h, 72h, 6h, 72h, 1440h, 6h, 1440h, 1440h, 366 * 24h, 3660 * 24h};
constexpr double year_ms = 365.2425 * 86'400'000;

struct Totals {
  std::uint64_t worlds = 0, runs = 0, events = 0;
  double years = 0;
};

void show(const Totals& totals, std::ostream& out) {
  out << totals.worlds << " worlds, " << static_cast<std::uint64_t>(totals.years) << " years, "
      << totals.runs << " runs, " << totals.events << " events";
}

std::string axiom_of(const std::vector<theory::Violation>& violations) {
  return violations.empty() ? "" : std::string{violations.front().axiom};
}

void report(std::uint64_t seed, const Scenario& scenario, const theory::Violation& violation) {
  const std::string axiom{violation.axiom};
  const Scenario smallest =
      shrink(scenario, [&axiom](const Scenario& s) { return axiom_of(judge(s)) == axiom; });
  std::cout << "seed " << seed << ": " << violation.text()
            << "\n\nThe same, shrunk: " << judge(smallest).front().text() << '\n'
            << to_json(smallest)
            << "\n\nsave that as world.json, then: dutiful simulate world.json "
            << "| dutiful verify -\n";
}

int random_worlds(std::uint64_t seed, std::uint64_t years) {
  const bool terminal = isatty(STDERR_FILENO) == 1;
  Totals totals;
  auto shown = std::chrono::steady_clock::now();
  for (; totals.years < static_cast<double>(years); ++seed) {
    const Duration length = lengths[seed % lengths.size()];
    const Scenario scenario = random_scenario(seed, length);
    Judge judge{scenario};
    play(scenario, judge);
    ++totals.worlds;
    totals.runs += judge.runs();
    totals.events += judge.events();
    totals.years +=
        static_cast<double>((scenario.steps.back().at - scenario.steps.front().at).count()) /
        year_ms;
    if (!judge.violations().empty()) {
      if (terminal) std::cerr << '\n';
      report(seed, scenario, judge.violations().front());
      show(totals, std::cout);
      std::cout << " until then\n";
      return 1;
    }
    const auto now = std::chrono::steady_clock::now();
    if (terminal && now - shown > 200ms) {
      shown = now;
      show(totals, std::cerr << '\r');
    }
  }
  if (terminal) std::cerr << '\n';
  show(totals, std::cout);
  std::cout << ": no violation\n";
  return 0;
}

int exhaustive_worlds(const Exhaustive& options, std::chrono::seconds seconds) {
  const bool terminal = isatty(STDERR_FILENO) == 1;
  const auto begin = std::chrono::steady_clock::now();
  Exhaustive bounded = options;
  bounded.proceed = [&](int depth, std::size_t states) {
    if (terminal) std::cerr << "\rdepth " << depth << ", " << states << " states";
    return std::chrono::steady_clock::now() - begin < seconds;
  };
  const Exhausted result = search(bounded);
  if (terminal) std::cerr << '\n';
  if (result.violation) {
    std::cout << result.violation->text() << '\n';
    for (const std::string& step : result.counterexample) std::cout << "  " << step << '\n';
  }
  std::cout << options.tasks << (options.tasks == 1 ? " task: " : " tasks: ") << "depth "
            << result.depth << ", " << result.states << " states, " << result.steps << " steps"
            << (result.violation ? " until then" : ": no violation") << '\n';
  if (result.violation) return 1;
  // Whoever asks for a depth wants to know that it was reached.
  return options.depth_max != Exhaustive{}.depth_max && result.depth < options.depth_max ? 3 : 0;
}

// The fewest faults with which the scenario still breaks the axiom.
ClusterScenario shrink_faults(ClusterScenario scenario, std::string_view axiom) {
  for (std::size_t i = scenario.faults.size(); i-- > 0;) {
    ClusterScenario smaller = scenario;
    smaller.faults.erase(smaller.faults.begin() + static_cast<std::ptrdiff_t>(i));
    const auto violations = play(smaller).violations;
    if (!violations.empty() && violations.front().axiom == axiom) scenario = std::move(smaller);
  }
  return scenario;
}

void report(const ClusterScenario& scenario, const theory::Violation& violation) {
  std::cout << "seed " << scenario.seed << ": " << violation.text() << "\n\n";
  const ClusterScenario smallest = shrink_faults(scenario, violation.axiom);
  std::cout << "The same with fewer faults: " << play(smallest).violations.front().text() << '\n'
            << smallest.hosts << " hosts, " << smallest.shards << " shards, a lease of "
            << smallest.lease / 1s << " s\n";
  for (const ClusterFault& fault : smallest.faults) {
    std::cout << "  " << format_utc(fault.at) << ' ' << name_of(fault.kind) << " host "
              << fault.host << ", " << fault.length.count() << " ms\n";
  }
  std::cout << "\nto see everything that happens: ./do simulate cluster --seed " << scenario.seed
            << " --worlds 1 --log\n";
}

int random_clusters(std::uint64_t seed, std::uint64_t worlds, std::ostream* log) {
  const bool terminal = isatty(STDERR_FILENO) == 1;
  std::uint64_t runs = 0;
  std::uint64_t events = 0;
  std::uint64_t faults = 0;
  std::uint64_t restarts = 0;
  std::uint64_t handovers = 0;
  const auto show = [&](std::uint64_t played, std::ostream& out) {
    out << played << " clusters, " << runs << " runs, " << events << " events, " << faults
        << " faults, " << restarts << " restarts and " << handovers << " handovers timed";
  };
  for (std::uint64_t played = 1; played <= worlds; ++played, ++seed) {
    const ClusterScenario scenario = random_cluster(seed, 30min);
    const ClusterVerdict verdict = play(scenario, log);
    runs += verdict.runs;
    events += verdict.events;
    faults += verdict.faults;
    restarts += verdict.restarts;
    handovers += verdict.handovers;
    if (!verdict.violations.empty()) {
      report(scenario, verdict.violations.front());
      show(played, std::cout);
      std::cout << " until then\n";
      return 1;
    }
    if (terminal && played % 64 == 0) show(played, std::cerr << '\r');
  }
  if (terminal) std::cerr << '\n';
  show(worlds, std::cout);
  std::cout << ": no violation\n";
  return 0;
}

int exhaustive_clusters(ExhaustiveCluster options, std::chrono::seconds seconds) {
  const bool terminal = isatty(STDERR_FILENO) == 1;
  const auto begin = std::chrono::steady_clock::now();
  options.proceed = [&](int faults, std::size_t states) {
    if (terminal) std::cerr << '\r' << faults << " faults, " << states << " states ";
    return std::chrono::steady_clock::now() - begin < seconds;
  };
  const ExhaustedCluster result = search(options);
  if (terminal) std::cerr << '\n';
  if (result.violation) {
    std::cout << result.violation->text() << '\n';
    for (const std::string& step : result.counterexample) std::cout << "  " << step << '\n';
    std::cout << result.searched << " faults, " << result.states << " states, " << result.steps
              << " steps until then\n";
    return 1;
  }
  std::cout << "everything with " << result.faults << " faults";
  if (result.searched > result.faults) {
    std::cout << ", and with " << result.searched << " faults, not all of it: ";
  } else {
    std::cout << ": ";
  }
  std::cout << result.states << " states, " << result.steps << " steps, settled within "
            << result.settles.count() << " ms: no violation\n";
  // Whoever asks for a number of faults wants to know that it was reached.
  const bool is_asked = options.faults_max != ExhaustiveCluster{}.faults_max;
  return is_asked && result.faults < options.faults_max ? 3 : 0;
}

ExhaustiveCluster exhaustive_cluster(const std::optional<std::string>& faults,
                                     const std::optional<std::string>& kinds) {
  ExhaustiveCluster options;
  if (faults) options.faults_max = static_cast<int>(read_number("--faults", *faults, {.most = 99}));
  if (kinds) options.kinds = *kinds;
  return options;
}

int run(const std::vector<std::string>& words) {
  std::string worlds = "1000";
  std::string seed = "1";
  std::string years = "100";
  std::string tasks = "1";
  std::string seconds = "120";
  std::optional<std::string> depth;
  bool reconcile = false;
  bool reset_history = false;
  bool log = false;
  bool exhaustive = false;
  std::optional<std::string> faults;
  std::optional<std::string> kinds;
  const ProgramSyntax program{
      .name = "worlds",
      .description = "Tries the engine in worlds that nobody has thought of.",
      .commands = {{.name = "random",
                    .description = "Random worlds, from a seed on",
                    .options = {{.name = "--seed",
                                 .value = "N",
                                 .description = "The seed of the first world",
                                 .target = &seed},
                                {.name = "--years",
                                 .value = "N",
                                 .description = "Simulated years in all",
                                 .target = &years}}},
                   {.name = "cluster",
                    .description = "Random clusters, from a seed on",
                    .options = {{.name = "--seed",
                                 .value = "N",
                                 .description = "The seed of the first cluster",
                                 .target = &seed},
                                {.name = "--worlds",
                                 .value = "N",
                                 .description = "How many clusters",
                                 .target = &worlds},
                                {.name = "--log",
                                 .description = "Show everything that happens",
                                 .target = &log},
                                {.name = "--exhaustive",
                                 .description = "Every cluster of two members with a few faults",
                                 .target = &exhaustive},
                                {.name = "--seconds",
                                 .value = "N",
                                 .description = "How long to go on (with --exhaustive)",
                                 .target = &seconds},
                                {.name = "--faults",
                                 .value = "N",
                                 .description = "How many faults at most (with --exhaustive)",
                                 .target = &faults},
                                {.name = "--kinds",
                                 .value = "KINDS",
                                 .description = "Which faults, such as break,pause (with "
                                                "--exhaustive)",
                                 .target = &kinds}}},
                   {.name = "exhaustive",
                    .description = "Every world of a few steps",
                    .options = {{.name = "--tasks",
                                 .value = "N",
                                 .description = "How many tasks: 1 or 2",
                                 .target = &tasks},
                                {.name = "--seconds",
                                 .value = "N",
                                 .description = "How long to go on",
                                 .target = &seconds},
                                {.name = "--depth",
                                 .value = "N",
                                 .description = "How many steps at most",
                                 .target = &depth},
                                {.name = "--reconcile",
                                 .description = "With the policy reinitialize = reconcile",
                                 .target = &reconcile},
                                {.name = "--reset-history",
                                 .description = "With override = reset_history",
                                 .target = &reset_history}}}}};
  const CommandSyntax* command = read_command_line(program, words, std::cout);
  if (command == nullptr) return 0;
  if (command->name == "random") {
    return random_worlds(read_number("--seed", seed, {}),
                         read_number("--years", years, {.least = 1}));
  }
  constexpr std::uint64_t year_s = std::uint64_t{366} * 86'400;
  const auto limit = [&] {
    return std::chrono::seconds{read_number("--seconds", seconds, {.most = year_s})};
  };
  if (command->name == "cluster") {
    if (exhaustive) return exhaustive_clusters(exhaustive_cluster(faults, kinds), limit());
    return random_clusters(read_number("--seed", seed, {}),
                           read_number("--worlds", worlds, {.least = 1}),
                           log ? &std::cout : nullptr);
  }
  Exhaustive options;
  options.tasks = static_cast<int>(read_number("--tasks", tasks, {.least = 1, .most = 2}));
  if (depth) options.depth_max = static_cast<int>(read_number("--depth", *depth, {.most = 1000}));
  if (reconcile) options.policies.reinitialize = Reinitialize::reconcile;
  if (reset_history) options.policies.override = Override::reset_history;
  return exhaustive_worlds(options, limit());
}

}  // namespace
}  // namespace dutiful

int main(int argc, char** argv) {
  try {
    return dutiful::run({argv + (argc > 0 ? 1 : 0), argv + argc});
  } catch (const std::exception& error) {
    std::cerr << "worlds: " << error.what() << '\n';
    return 2;
  }
}
