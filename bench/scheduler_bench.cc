// The scheduler with many tasks due at one instant, beside what the same rows cost in bare SQLite.
//
//   scheduler_bench burst TASKS     TASKS tasks with empty callbacks, manual clock, SQLite
//   scheduler_bench lateness TASKS  TASKS tasks, real clock, SQLite: how late each starts
//   scheduler_bench memory TASKS    bytes per task beyond its texts
//   scheduler_bench idle TASKS      an hour in which nothing is due; for callgrind

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <latch>
#include <string_view>

#include <malloc.h>

#include <dutiful/dutiful.h>
#include <dutiful/testing.h>

#include "engine/engine.h"
#include "store/memory/memory_store.h"
#include "store/sqlite/sqlite_store.h"
#include "support/temporary_directory.h"

namespace dutiful {
namespace {

using namespace std::chrono_literals;
using Seconds = std::chrono::duration<double>;

constexpr Instant begin = std::chrono::sys_days{std::chrono::year{2025} / 3 / 3} + 10h + 30min;

std::string name_of(std::size_t i) {
  return "task " + std::to_string(i);
}

template <typename Work>
double seconds_of(Work work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return Seconds{std::chrono::steady_clock::now() - start}.count();
}

// The same rows, written twice each, as starts and ends would be: 1,000 to a transaction.
double bare_updates(const std::string& path, std::size_t tasks) {
  const auto store = open_sqlite_store(path);
  auto records = store->load();
  return seconds_of([&] {
    for (int pass = 0; pass < 2; ++pass) {
      std::vector<RowUpdate> batch;
      for (std::size_t i = 0; i < tasks; ++i) {
        records[i].progress.last_attempt = begin + Duration{pass};
        batch.push_back({records[i].row, records[i].progress});
        if (batch.size() == 1000 || i + 1 == tasks) {
          store->commit(batch);
          batch.clear();
        }
      }
    }
  });
}

void burst(std::size_t tasks) {
  const TemporaryDirectory directory;
  const std::string path = directory.file("state.db");
  const auto clock = std::make_shared<ManualClock>(begin);
  std::atomic<std::size_t> started = 0;
  double initialized = 0;
  double run = 0;
  {
    Scheduler scheduler{
        {.state = path, .max_concurrent = 8192, .zone = Zone::utc(), .clock = clock}};
    std::vector<Registration> list;
    for (std::size_t i = 0; i < tasks; ++i) {
      list.push_back({name_of(i), "0 * * * *", [&started] { ++started; }, 1min});
    }
    initialized = seconds_of([&] { scheduler.initialize(std::move(list)); });
    run = seconds_of([&] {
      clock->set(begin + 30min);
      while (started < tasks) std::this_thread::yield();
      scheduler.stop();
    });
  }
  const double bare = bare_updates(path, tasks);
  std::cout << tasks << " tasks: initialize " << initialized
            << " s; all started and recorded after " << run << " s; bare updates of the same rows "
            << bare << " s; ratio " << run / bare << '\n';
}

void lateness(std::size_t tasks) {
  const TemporaryDirectory directory;
  Scheduler scheduler{{.state = directory.file("state.db"), .zone = Zone::utc()}};
  std::vector<std::atomic<std::int64_t>> late(tasks);
  std::latch done{static_cast<std::ptrdiff_t>(tasks)};
  std::vector<Registration> list;
  for (std::size_t i = 0; i < tasks; ++i) {
    list.push_back(
        {name_of(i),
         "* * * * *",
         [&, i](const RunInfo& run) {
           if (run.reason != Reason::cron) return;
           const auto now = std::chrono::system_clock::now();
           late[i] = std::chrono::duration_cast<std::chrono::microseconds>(now - run.pulse).count();
           done.count_down();
         },
         1min});
  }
  scheduler.initialize(std::move(list));
  done.wait();
  scheduler.stop();
  std::vector<std::int64_t> sorted(late.begin(), late.end());
  std::ranges::sort(sorted);
  const auto percentile = [&](double p) {
    return static_cast<double>(
               sorted[static_cast<std::size_t>(p * static_cast<double>(tasks - 1))]) /
           1000;
  };
  std::cout << tasks << " tasks due at one instant: started after p50 " << percentile(0.5)
            << " ms, p99 " << percentile(0.99) << " ms, last " << percentile(1) << " ms\n";
}

class NoTrace : public TraceSink {
  void on(Instant /*at*/, const TraceEvent& /*event*/) override {}
};

Engine make_engine(TraceSink& trace) {
  return {
      Calendar{Zone::utc()},
      {},
      [state = std::make_shared<MemoryState>()] { return std::make_unique<MemoryStore>(state); },
      trace};
}

std::vector<TaskConfig> list_of(std::size_t tasks, const char* cron) {
  std::vector<TaskConfig> list;
  for (std::size_t i = 0; i < tasks; ++i) {
    list.push_back({.name = name_of(i), .cron = cron, .retry_delay = 1min});
  }
  return list;
}

void memory(std::size_t tasks) {
  const TemporaryDirectory directory;
  const auto clock = std::make_shared<ManualClock>(begin);
  Scheduler scheduler{{.state = directory.file("state.db"), .zone = Zone::utc(), .clock = clock}};
  const auto before = mallinfo2().uordblks;
  {
    std::vector<Registration> list;
    for (std::size_t i = 0; i < tasks; ++i) list.push_back({name_of(i), "0 * * * *", [] {}, 1min});
    scheduler.initialize(std::move(list));
  }
  const auto after = mallinfo2().uordblks;
  std::cout << tasks << " tasks: " << (after - before) / tasks << " bytes a task\n";
}

}  // namespace
}  // namespace dutiful

using namespace dutiful;

extern "C" __attribute__((noinline)) std::size_t idle_hour(Engine& engine) {
  std::size_t starts = 0;
  for (int minute = 1; minute <= 25; ++minute) {
    starts += engine.step(begin + std::chrono::minutes{minute}).size();
  }
  return starts;
}

int main(int argc, char** argv) {
  const std::string_view what = argc == 3 ? argv[1] : "";
  const std::size_t tasks = argc == 3 ? std::strtoul(argv[2], nullptr, 10) : 0;
  if (what == "burst" && tasks > 0) {
    burst(tasks);
  } else if (what == "lateness" && tasks > 0) {
    lateness(tasks);
  } else if (what == "memory" && tasks > 0) {
    memory(tasks);
  } else if (what == "idle" && tasks > 0) {
    NoTrace trace;
    Engine engine = make_engine(trace);
    engine.initialize(list_of(tasks, "0 * * * *"), begin);
    std::cout << idle_hour(engine) << " starts\n";
  } else {
    std::cerr << "usage: scheduler_bench burst|lateness|memory|idle TASKS\n";
    return 2;
  }
}
