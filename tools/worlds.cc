// Tries the engine in worlds that nobody has thought of, and judges it by the theory.
//
//   worlds random --seed 1 --years 100     random worlds, one after the other
//   worlds exhaustive --tasks 1 --seconds 120   every world of a few steps

#include <array>
#include <chrono>
#include <iostream>

#include <CLI/CLI.hpp>
#include <unistd.h>

#include "sim/exhaustive.h"
#include "sim/judge.h"
#include "sim/play.h"
#include "sim/random_scenario.h"
#include "sim/shrink.h"

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

int random_worlds(std::uint64_t seed, double years) {
  const bool terminal = isatty(STDERR_FILENO) == 1;
  Totals totals;
  auto shown = std::chrono::steady_clock::now();
  for (; totals.years < years; ++seed) {
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

int exhaustive_worlds(const Exhaustive& options, double seconds) {
  const bool terminal = isatty(STDERR_FILENO) == 1;
  const auto begin = std::chrono::steady_clock::now();
  Exhaustive bounded = options;
  bounded.go_on = [&](int depth, std::size_t states) {
    if (terminal) std::cerr << "\rdepth " << depth << ", " << states << " states";
    return std::chrono::steady_clock::now() - begin < std::chrono::duration<double>{seconds};
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

int run(int argc, char** argv) {
  CLI::App program{"Tries the engine in worlds that nobody has thought of.", "worlds"};
  program.require_subcommand(1);
  std::uint64_t seed = 1;
  double years = 100;
  CLI::App* random = program.add_subcommand("random", "Random worlds, from a seed on");
  random->add_option("--seed", seed, "The seed of the first world")->capture_default_str();
  random->add_option("--years", years, "Simulated years in all")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();

  Exhaustive options;
  double seconds = 120;
  bool reconcile = false;
  bool reset_history = false;
  CLI::App* exhaustive = program.add_subcommand("exhaustive", "Every world of a few steps");
  exhaustive->add_option("--tasks", options.tasks, "How many tasks")
      ->check(CLI::Range(1, 2))
      ->capture_default_str();
  exhaustive->add_option("--seconds", seconds, "How long to go on")->capture_default_str();
  exhaustive->add_option("--depth", options.depth_max, "How many steps at most");
  exhaustive->add_flag("--reconcile", reconcile, "With the policy reinitialize = reconcile");
  exhaustive->add_flag("--reset-history", reset_history, "With override = reset_history");
  CLI11_PARSE(program, argc, argv);
  if (*random) return random_worlds(seed, years);
  if (reconcile) options.policies.reinitialize = Reinitialize::reconcile;
  if (reset_history) options.policies.override = Override::reset_history;
  return exhaustive_worlds(options, seconds);
}

}  // namespace
}  // namespace dutiful

int main(int argc, char** argv) {
  try {
    return dutiful::run(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << "worlds: " << error.what() << '\n';
    return 2;
  }
}
