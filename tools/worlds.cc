// Tries the engine in worlds that nobody has thought of, and judges it by the theory.
//
//   worlds random --seed 1 --years 100     random worlds, one after the other
//   worlds exhaustive --tasks 1 --seconds 120   every world of a few steps

#include <array>
#include <chrono>
#include <iostream>

#include <unistd.h>

#include "cli/command_line.h"
#include "cli/number_argument.h"
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

int run(const std::vector<std::string>& words) {
  std::string seed = "1";
  std::string years = "100";
  std::string tasks = "1";
  std::string seconds = "120";
  std::optional<std::string> depth;
  bool reconcile = false;
  bool reset_history = false;
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
  Exhaustive options;
  options.tasks = static_cast<int>(read_number("--tasks", tasks, {.least = 1, .most = 2}));
  if (depth) options.depth_max = static_cast<int>(read_number("--depth", *depth, {.most = 1000}));
  if (reconcile) options.policies.reinitialize = Reinitialize::reconcile;
  if (reset_history) options.policies.override = Override::reset_history;
  constexpr std::uint64_t year_s = 366 * 86'400;
  return exhaustive_worlds(
      options, std::chrono::seconds{read_number("--seconds", seconds, {.most = year_s})});
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
