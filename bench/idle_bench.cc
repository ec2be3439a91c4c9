// A time in which nothing is due, for callgrind, and the cost of examining every task each minute.

#include <iostream>

#include <nlohmann/json.hpp>

#include "engine/engine.h"
#include "figures.h"
#include "runtime/no_trace.h"
#include "store/memory/memory_store.h"
#include "subjects.h"

using namespace dutiful;

// callgrind finds these by name.
extern "C" __attribute__((noinline)) std::size_t idle_hour(Engine& engine) {
  std::size_t starts = 0;
  for (int minute = 1; minute <= 60; ++minute) {
    starts += engine.step(bench::begin + std::chrono::minutes{minute}).starts.size();
  }
  return starts;
}

extern "C" __attribute__((noinline)) std::size_t naive_minute(
    const std::vector<CronExpression>& schedules, CivilMinute minute) {
  std::size_t due = 0;
  for (const CronExpression& schedule : schedules) due += schedule.matches(minute) ? 1 : 0;
  return due;
}

namespace dutiful::bench {

void idle(std::size_t tasks) {
  NoTrace trace;
  Engine engine{
      Calendar{Zone::utc()},
      {},
      [state = std::make_shared<MemoryState>()] { return std::make_unique<MemoryStore>(state); },
      trace};
  engine.initialize(configs(tasks, rarely), begin);
  const bool sleeps_through = engine.next_wake() > begin + std::chrono::hours{1};
  std::size_t starts = 0;
  const double seconds = seconds_of([&] { starts = idle_hour(engine); });
  if (starts > 0) throw std::runtime_error("something was due");
  print_figure("idle.hour", tasks, {{"seconds", seconds}, {"wake_ups", sleeps_through ? 0 : 60}});
}

void naive_scan(std::size_t tasks) {
  const std::vector<CronExpression> schedules(tasks, CronExpression::parse(rarely));
  std::size_t due = 0;
  const double seconds = seconds_of([&] {
    for (int minute = 0; minute < 60; ++minute) {
      due += naive_minute(
          schedules,
          CivilMinute{std::chrono::floor<std::chrono::minutes>(begin.time_since_epoch())} +
              std::chrono::minutes{minute});
    }
  });
  if (due > 0) throw std::runtime_error("something was due");
  print_figure("idle.naive_scan", tasks, {{"seconds", seconds}, {"wake_ups", 60}});
}

}  // namespace dutiful::bench
