// After a crash: from the start of the process until the last interrupted run has restarted.

#include <atomic>
#include <chrono>
#include <iostream>
#include <latch>

#include <nlohmann/json.hpp>
#include <spawn.h>
#include <sys/wait.h>

#include "figures.h"
#include "store/sqlite/sqlite_store.h"
#include "subjects.h"
#include "support/temporary_directory.h"

namespace dutiful::bench {
namespace {

constexpr std::size_t orphans_max = 10'000;

double steady_seconds() {
  return std::chrono::duration<double>{std::chrono::steady_clock::now().time_since_epoch()}.count();
}

// The state of a scheduler that was killed while the first tasks ran.
void write_state(const std::string& path, std::size_t tasks, std::size_t orphans) {
  const auto store = open_sqlite_store(path);
  const Instant now = std::chrono::floor<Duration>(std::chrono::system_clock::now());
  Plan plan = make_plan(configs(tasks, rarely),
                        {},
                        now,
                        Calendar{Zone::utc()},
                        Override::keep_history,
                        Runs::are_interrupted);
  for (std::size_t i = 0; i < orphans; ++i) {
    TaskProgress& progress = plan.tasks[i * (tasks / orphans)].progress;
    progress.state = TaskState::running;
    progress.attempt = 1;
    progress.fence = i + 1;
    progress.pulse = now;
    progress.last_attempt = now;
  }
  (void)store->replace(plan, "killed");
}

}  // namespace

void recovery(std::size_t tasks) {
  const TemporaryDirectory directory;
  const std::string state = directory.file("state.db");
  const std::size_t orphans = std::min(tasks, orphans_max);
  write_state(state, tasks, orphans);

  const std::string started = std::to_string(steady_seconds());
  std::vector<std::string> arguments{
      "scheduler_bench", "recover", state, std::to_string(tasks), std::to_string(orphans), started};
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  pid_t child = 0;
  if (posix_spawn(&child, "/proc/self/exe", nullptr, nullptr, argv.data(), environ) != 0) {
    throw std::runtime_error("cannot start a process");
  }
  int status = 0;
  if (waitpid(child, &status, 0) != child || status != 0) {
    throw std::runtime_error("the process that recovers has failed");
  }
}

void recover(const std::string& state, std::size_t tasks, std::size_t orphans, double started) {
  std::latch left{static_cast<std::ptrdiff_t>(orphans)};
  std::atomic<double> last = 0;
  Scheduler scheduler{{.state = state, .max_concurrent = 0, .zone = Zone::utc()}};
  auto list = registrations(tasks, rarely, [&](const RunInfo& run) {
    if (run.reason != Reason::orphan) return;
    last = steady_seconds();
    left.count_down();
  });
  const double listed = steady_seconds();
  scheduler.initialize(std::move(list));
  const double initialized = steady_seconds();
  left.wait();
  scheduler.stop();
  print_figure("recovery",
               tasks,
               {{"orphans", orphans},
                {"listed_seconds", listed - started},
                {"initialized_seconds", initialized - started},
                {"last_orphan_seconds", last - started}});
}

}  // namespace dutiful::bench
