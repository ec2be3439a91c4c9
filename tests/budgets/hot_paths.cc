// The code that runs for every task, for callgrind to count:
//
//   hot_paths next|count|initialize|step|downtime
//
// Prints how often the path ran inside `measured_calls`, which callgrind counts.

#include <functional>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "engine/engine.h"
#include "runtime/no_trace.h"
#include "store/memory/memory_store.h"

using namespace dutiful;
using namespace std::chrono_literals;

namespace {

constexpr Instant begin = std::chrono::sys_days{std::chrono::year{2025} / 3 / 3} + 10h + 30min;
constexpr std::size_t tasks = 10'000;

std::vector<TaskConfig> list(std::size_t size = tasks, const char* cron = "0 * * * *") {
  std::vector<TaskConfig> list;
  for (std::size_t i = 0; i < size; ++i) {
    list.push_back({.name = "task " + std::to_string(i), .cron = cron, .retry_delay = 1min});
  }
  return list;
}

class TaskWorld {
 public:
  explicit TaskWorld(const Zone& zone = Zone::utc(), TypedSink events = {})
      : engine_(
            Calendar{zone},
            {},
            [state = std::make_shared<MemoryState>()] {
              return std::make_unique<MemoryStore>(state);
            },
            trace_,
            std::move(events),
            {},
            &board_) {}
  [[nodiscard]] Engine& engine() { return engine_; }

  // Starts what is due; each run ends a minute later, and both are recorded. Returns how many.
  std::size_t run_due(Instant now) {
    const auto starts = engine_.step(now).starts;
    for (const Start& start : starts) {
      engine_.end(start.task, {Outcome::success, {}, now + 1min, 31min}, now + 1min);
    }
    engine_.record_ends(now + 1min);
    return starts.size();
  }

 private:
  NoTrace trace_;
  StatusBoard board_;
  Engine engine_;
};

}  // namespace

// Only this function is counted.
extern "C" __attribute__((noinline)) std::size_t measured_calls(
    const std::function<std::size_t()>& work) {
  return work();
}

int main(int argc, char** argv) {
  const std::string_view path = argc == 2 ? argv[1] : "";
  if (path == "next") {
    const Calendar calendar{Zone::load("America/New_York")};
    std::vector<CronExpression> schedules;
    for (const char* text : {"* * * * *",
                             "15 3 * * 1-5",
                             "0,30 * * * *",
                             "0 0 29 2 *",
                             "30 2 * * *",
                             "5 4 1,15 * 0"}) {
      schedules.push_back(CronExpression::parse(text));
    }
    std::cout << measured_calls([&] {
      std::size_t calls = 0;
      for (const CronExpression& schedule : schedules) {
        for (int i = 0; i < 1000; ++i, ++calls) (void)calendar.find_next(schedule, begin + i * 7h);
      }
      return calls;
    }) << '\n';
    return 0;
  }
  if (path == "count") {  // the pulses missed in a century
    const Calendar calendar{Zone::load("America/New_York")};
    const auto schedule = CronExpression::parse("* * * * *");
    std::cout << measured_calls([&] {
      constexpr std::size_t calls = 100;
      for (std::size_t i = 0; i < calls; ++i) {
        (void)calendar.count(schedule, begin + i * 7h, begin + i * 7h + std::chrono::days{36525});
      }
      return calls;
    }) << '\n';
    return 0;
  }
  if (path == "downtime") {  // a year, after which each start reports half a million missed pulses
    TaskWorld world{Zone::load("America/New_York"), [](const TypedEvent&) {}};
    const auto minutely = list(20, "* * * * *");
    world.engine().initialize(minutely, begin);
    world.run_due(begin);
    world.engine().stop(begin + 1min);
    const Instant later = begin + std::chrono::days{375};
    world.engine().initialize(minutely, later);
    std::cout << measured_calls([&] { return world.run_due(later); }) << '\n';
    return 0;
  }
  TaskWorld world;
  Engine& engine = world.engine();
  auto registered = list();
  if (path == "initialize") {
    std::cout << measured_calls([&] {
      engine.initialize(std::move(registered), begin);
      return tasks;
    }) << '\n';
    return 0;
  }
  if (path == "step") {
    engine.initialize(std::move(registered), begin);
    std::cout << measured_calls([&] { return world.run_due(begin + 30min); }) << '\n';
    return 0;
  }
  std::cerr << "usage: hot_paths next|count|initialize|step|downtime\n";
  return 2;
}
