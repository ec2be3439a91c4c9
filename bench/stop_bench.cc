// stop() with nothing running, and with many runs that end as soon as it is called.

#include <mutex>
#include <thread>

#include <nlohmann/json.hpp>

#include <dutiful/testing.h>

#include "figures.h"
#include "subjects.h"
#include "support/temporary_directory.h"

namespace dutiful::bench {
namespace {

constexpr std::size_t running_max = 10'000;

double stop_seconds(std::size_t tasks, std::size_t running) {
  const TemporaryDirectory directory;
  const auto clock = std::make_shared<ManualClock>(begin);
  Scheduler scheduler{{.state = directory.file("state.db"),
                       .max_concurrent = 0,
                       .zone = Zone::utc(),
                       .clock = clock}};
  std::mutex mutex;
  std::vector<Run> runs;
  auto list = registrations(tasks, rarely);
  for (std::size_t i = 0; i < running; ++i) {
    list[i].cron = hourly;
    list[i].callback = [&](Run run) {
      const std::lock_guard lock{mutex};
      runs.push_back(std::move(run));
    };
  }
  scheduler.initialize(std::move(list));
  clock->set(begin + std::chrono::minutes{30});
  const auto all_run = [&] {
    const std::lock_guard lock{mutex};
    return runs.size() == running;
  };
  while (!all_run()) std::this_thread::sleep_for(std::chrono::milliseconds{1});
  return seconds_of([&] {
    std::thread ends{[&] {
      for (Run& run : runs) run.succeed();
    }};
    scheduler.stop();
    ends.join();
  });
}

// The unavoidable part of stop(): it destroys the list, which belongs to the scheduler.
double bare_free_seconds(std::size_t tasks) {
  auto list = registrations(tasks, rarely);
  return seconds_of([&] { std::vector<Registration>{}.swap(list); });
}

}  // namespace

void stop_running(std::size_t tasks) {
  const double bare = bare_free_seconds(tasks);
  for (const std::size_t running : {std::size_t{0}, std::min(tasks, running_max)}) {
    print_figure("stop",
                 tasks,
                 {{"running", running},
                  {"seconds", stop_seconds(tasks, running)},
                  {"bare_free_seconds", bare}});
  }
}

}  // namespace dutiful::bench
