// initialize() with a new list, an unchanged one, and one with a hundredth changed.

#include <algorithm>

#include <nlohmann/json.hpp>

#include "bare_sqlite.h"
#include "figures.h"
#include "subjects.h"
#include "support/temporary_directory.h"

namespace dutiful::bench {
namespace {

// A process creates its scheduler once. The caller makes the list, so that is not measured.
double initialized(const std::string& path, std::vector<Registration> list) {
  Scheduler scheduler{{.state = path, .zone = Zone::utc()}};
  return seconds_of([&] { scheduler.initialize(std::move(list)); });
}

}  // namespace

void initialize_sqlite(std::size_t tasks) {
  const TemporaryDirectory directory;
  const std::string state = directory.file("state.db");
  auto sorted = configs(tasks, rarely);
  std::ranges::sort(sorted, {}, &TaskConfig::name);

  const double insert = bare_insert(directory.file("bare.db"), sorted);
  const double cold = initialized(state, registrations(tasks, rarely));
  const double scan = bare_scan(state);
  const double warm = initialized(state, registrations(tasks, rarely));
  auto changed = registrations(tasks, rarely);
  for (std::size_t i = 0; i < tasks; i += 100) changed[i].retry_delay = std::chrono::minutes{2};
  const double overridden = initialized(state, std::move(changed));

  print_figure("initialize.cold",
               tasks,
               {{"seconds", cold}, {"bare_insert_seconds", insert}, {"ratio", cold / insert}});
  print_figure("initialize.warm",
               tasks,
               {{"seconds", warm}, {"bare_scan_seconds", scan}, {"ratio", warm / scan}});
  print_figure(
      "initialize.overridden",
      tasks,
      {{"seconds", overridden}, {"bare_scan_seconds", scan}, {"ratio", overridden / scan}});
}

}  // namespace dutiful::bench
