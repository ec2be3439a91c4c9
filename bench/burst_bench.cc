// All tasks are due at one instant: when the first, the median and the last one start, and when
// every end is durably recorded.

#include <atomic>

#include <nlohmann/json.hpp>

#include <dutiful/testing.h>

#include "bare_sqlite.h"
#include "figures.h"
#include "subjects.h"
#include "support/temporary_directory.h"

namespace dutiful::bench {
namespace {

using std::chrono::steady_clock;

// Twice as many concurrent runs as a step starts, so that the limit does not affect the result.
constexpr std::size_t concurrent = 8192;
constexpr std::size_t together = 4096;

struct Burst {
  double first, median, last, recorded;
};

Burst burst(const std::string& state, std::size_t tasks) {
  std::vector<std::atomic<steady_clock::rep>> starts(tasks);
  std::atomic<std::size_t> next = 0;
  const auto clock = std::make_shared<ManualClock>(begin);
  Scheduler scheduler{
      {.state = state, .max_concurrent = concurrent, .zone = Zone::utc(), .clock = clock}};
  scheduler.initialize(registrations(tasks, hourly, [&] {
    starts[next++].store(steady_clock::now().time_since_epoch().count(), std::memory_order_relaxed);
  }));

  const auto pulse = steady_clock::now();
  clock->set(begin + std::chrono::minutes{30});
  while (next < tasks) std::this_thread::sleep_for(std::chrono::milliseconds{1});
  scheduler.stop();
  const double recorded = seconds_since(pulse);

  std::vector<double> late;
  for (const auto& start : starts) {
    late.push_back(
        std::chrono::duration<double>{steady_clock::duration{start} - pulse.time_since_epoch()}
            .count());
  }
  const double median = percentile(late, 50);
  return {late.front(), median, late.back(), recorded};
}

nlohmann::json figure_of(const Burst& burst, std::size_t tasks) {
  return {{"first_start_seconds", burst.first},
          {"median_start_seconds", burst.median},
          {"last_start_seconds", burst.last},
          {"recorded_seconds", burst.recorded},
          {"ends_per_second", static_cast<double>(tasks) / burst.recorded}};
}

}  // namespace

void burst_memory(std::size_t tasks) {
  print_figure("burst.memory", tasks, figure_of(burst("", tasks), tasks));
}

void burst_sqlite(std::size_t tasks) {
  const TemporaryDirectory directory;
  const std::string state = directory.file("state.db");
  auto figure = figure_of(burst(state, tasks), tasks);
  const double bare = bare_updates(state, tasks, together);
  figure["bare_updates_seconds"] = bare;
  figure["ratio"] = figure["recorded_seconds"].get<double>() / bare;
  figure["bare_fdatasync_seconds"] = bare_fdatasync(directory.file("bare"));
  print_figure("burst.sqlite", tasks, figure);
}

}  // namespace dutiful::bench
