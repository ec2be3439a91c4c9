// A year of tasks that are due every minute, played in virtual time and judged by the theory.

#include <nlohmann/json.hpp>

#include "figures.h"
#include "sim/judge.h"
#include "sim/play.h"
#include "subjects.h"

namespace dutiful::bench {

void simulated_year(std::size_t tasks) {
  Scenario scenario;
  scenario.steps.push_back(
      {.at = begin, .kind = Step::Kind::initialize, .registrations = configs(tasks, "* * * * *")});
  scenario.steps.push_back({.at = begin + std::chrono::days{365}, .kind = Step::Kind::end});
  for (const TaskConfig& config : scenario.steps.front().registrations) {
    scenario.callbacks[config.name] = {{.takes = std::chrono::seconds{1}}};
  }
  Judge judge{scenario};
  const double seconds = seconds_of([&] { play(scenario, judge); });
  print_figure("simulate.judged_year",
               tasks,
               {{"seconds", seconds},
                {"runs", judge.runs()},
                {"events", judge.events()},
                {"violations", judge.violations().size()},
                {"runs_per_second", static_cast<double>(judge.runs()) / seconds},
                {"events_per_second", static_cast<double>(judge.events()) / seconds}});
}

}  // namespace dutiful::bench
