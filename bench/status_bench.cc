// status() of many tasks, called in a loop beside the scheduler: how long it keeps the loop from
// running.
//
// Two measurements. The loop's share of the work is to write slots: the longest time that the slots
// of one step take, in a thread that readers disturb. And how late a task starts while a reader
// asks its scheduler, compared with the same reader asking another scheduler in the same process:
// the difference is what the reader does to the loop, and the rest is what it does to the machine.

#include <algorithm>
#include <atomic>
#include <ctime>
#include <mutex>
#include <thread>

#include <nlohmann/json.hpp>

#include "engine/status_board.h"
#include "figures.h"
#include "runtime/read_status.h"
#include "subjects.h"

namespace dutiful::bench {
namespace {

constexpr double limit_ms = 1;
constexpr std::size_t starts_per_step = 4096;  // the most that one transaction carries
constexpr int steps = 1000;
constexpr int rounds = 4;
constexpr std::size_t ticks_per_round = 100;
constexpr std::chrono::milliseconds apart{20};

// Calls it in a loop, on a thread of its own.
class Reader {
 public:
  template <typename Read>
  explicit Reader(Read read)
      : thread_([this, read] {
          for (; !done_; ++reads_) read();
        }) {}
  ~Reader() { thread_.join(); }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  std::size_t finish() {
    done_ = true;
    return reads_;
  }

 private:
  std::atomic<bool> done_ = false;
  std::atomic<std::size_t> reads_ = 0;
  std::thread thread_;
};

// Milliseconds of the processor that this thread has used. The time of a thread that never waits.
double busy_ms() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) / 1e6;
}

nlohmann::json writes(std::size_t tasks) {
  const Calendar calendar{Zone::utc()};
  Core core{calendar, 0};
  core.apply(
      make_plan(configs(tasks, hourly), {}, begin, calendar, Override::keep_history, Runs::go_on),
      begin);
  StatusBoard board;
  board.show(std::make_shared<ShownList>(core, tasks));
  std::vector<double> busy;
  std::vector<double> wall;
  std::size_t reads = 0;
  {
    Reader reader{[&] {
      (void)read_status(
          board, calendar, SchedulerStatus::Lifecycle::running, 0, begin + std::chrono::hours{1});
    }};
    TaskId next = 0;
    for (int step = 0; step < steps; ++step) {
      std::this_thread::sleep_for(std::chrono::milliseconds{1});
      const double busy_before = busy_ms();
      wall.push_back(1e3 * seconds_of([&] {
                       for (std::size_t i = 0; i < starts_per_step; ++i) {
                         board.current()->write(core.task(next), Reason::cron);
                         next = (next + 1) % static_cast<TaskId>(tasks);
                       }
                     }));
      busy.push_back(busy_ms() - busy_before);
    }
    reads = reader.finish();
  }
  return {{"writes", starts_per_step},
          {"busy_p50_ms", percentile(busy, 50)},
          {"busy_p99_ms", percentile(busy, 99)},
          {"busy_max_ms", percentile(busy, 100)},
          {"wall_p50_ms", percentile(wall, 50)},
          {"wall_max_ms", percentile(wall, 100)},
          {"limit_ms", limit_ms},
          {"snapshots_meanwhile", reads}};
}

// How late the runs of one task start.
class Ticks {
 public:
  [[nodiscard]] Callback callback() {
    return [this](const RunInfo& run) {
      const std::chrono::duration<double, std::milli> late =
          std::chrono::system_clock::now() - run.scheduled;
      {
        const std::lock_guard lock{mutex_};
        if (run.reason == Reason::retry) late_.push_back(late.count());
      }
      throw std::runtime_error("once more");
    };
  }
  // Those of the next ticks.
  [[nodiscard]] std::vector<double> measure(std::size_t ticks) {
    {
      const std::lock_guard lock{mutex_};
      late_.clear();
    }
    while (true) {
      std::this_thread::sleep_for(apart);
      const std::lock_guard lock{mutex_};
      if (late_.size() >= ticks) return late_;
    }
  }

 private:
  std::mutex mutex_;
  std::vector<double> late_;
};

nlohmann::json lateness_beside(std::size_t tasks) {
  Ticks ticks;
  Scheduler asked{{.zone = Zone::utc()}};
  Scheduler other{{.zone = Zone::utc()}};
  auto list = registrations(tasks, rarely);
  list[tasks / 2].cron = "* * * * *";
  list[tasks / 2].retry_delay = apart;
  list[tasks / 2].callback = ticks.callback();
  asked.initialize(std::move(list));
  other.initialize(registrations(tasks, rarely));
  std::vector<double> own;
  std::vector<double> control;
  std::vector<double> seconds;
  for (int round = 0; round < rounds; ++round) {
    for (Scheduler* const scheduler : {&asked, &other}) {
      Reader reader{[scheduler] { (void)scheduler->status(); }};
      auto& late = scheduler == &asked ? own : control;
      std::ranges::copy(ticks.measure(ticks_per_round), std::back_inserter(late));
      reader.finish();
    }
    seconds.push_back(seconds_of([&] { (void)asked.status(); }));
  }
  asked.stop();
  other.stop();
  nlohmann::json figure{{"seconds", percentile(seconds, 50)}, {"limit_ms", limit_ms}};
  for (const int percent : {50, 99, 100}) {
    const std::string p = percent == 100 ? "max_ms" : "p" + std::to_string(percent) + "_ms";
    figure["late_" + p] = percentile(own, percent);
    figure["late_beside_another_" + p] = percentile(control, percent);
  }
  return figure;
}

}  // namespace

void status(std::size_t tasks) {
  print_figure("status.writes", tasks, writes(tasks));
  print_figure("status", tasks, lateness_beside(tasks));
}

}  // namespace dutiful::bench
