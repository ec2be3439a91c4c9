// The code that runs for every task, for callgrind to count:
//
//   hot_paths next|count|initialize|step
//
// Prints how often the path ran inside `measured_calls`, which callgrind counts.

#include <functional>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>

#include "engine/engine.h"
#include "runtime/no_trace.h"
#include "store/memory/memory_store.h"

using namespace dutiful;
using namespace std::chrono_literals;

namespace {

constexpr Instant begin = std::chrono::sys_days{std::chrono::year{2025} / 3 / 3} + 10h + 30min;
constexpr std::size_t tasks = 10'000;

std::vector<TaskConfig> list() {
  std::vector<TaskConfig> list;
  for (std::size_t i = 0; i < tasks; ++i) {
    list.push_back({.name = "task " + std::to_string(i), .cron = "0 * * * *", .retry_delay = 1min});
  }
  return list;
}

class TaskWorld {
 public:
  [[nodiscard]] Engine& engine() { return engine_; }

 private:
  NoTrace trace_;
  Engine engine_{
      Calendar{Zone::utc()},
      {},
      [state = std::make_shared<MemoryState>()] { return std::make_unique<MemoryStore>(state); },
      trace_};
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
    // Each task starts and ends, and both are recorded.
    std::cout << measured_calls([&] {
      const auto starts = engine.step(begin + 30min).starts;
      for (const Start& start : starts) {
        engine.end(start.task, {Outcome::success, {}, begin + 31min, 31min}, begin + 31min);
      }
      engine.record_ends(begin + 31min);
      return starts.size();
    }) << '\n';
    return 0;
  }
  std::cerr << "usage: hot_paths next|count|initialize|step\n";
  return 2;
}
