// Many tasks of dutiful, all due at one instant: prints how long after it they started. Like its
// peers, it stores nothing and uses the real clock, so the instant is the next full minute.
//
//   burst_peer TASKS

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <thread>
#include <vector>

#include <dutiful/scheduler.h>

namespace {

using namespace std::chrono;

void burst(std::size_t tasks) {
  // Enough time to register all tasks, which is not measured.
  const auto due = ceil<minutes>(system_clock::now() + 3s + tasks * 5us);
  const hh_mm_ss time{due - floor<days>(due)};
  const std::string cron = std::to_string(time.minutes().count()) + " " +
                           std::to_string(time.hours().count()) + " * * *";
  std::vector<system_clock::time_point> starts(tasks);
  std::atomic<std::size_t> next = 0;
  std::vector<dutiful::Registration> registrations;
  registrations.reserve(tasks);
  for (std::size_t i = 0; i < tasks; ++i) {
    registrations.push_back({.name = "task " + std::to_string(i),
                             .cron = cron,
                             .callback = [&] { starts[next++] = system_clock::now(); },
                             .retry_delay = 1min});
  }
  // No limit, as in robfig/cron and croner.
  dutiful::Scheduler scheduler{{.max_concurrent = 8192, .zone = dutiful::Zone::utc()}};
  scheduler.initialize(std::move(registrations));
  if (system_clock::now() > due) {
    std::cerr << "burst_peer: registering took too long\n";
    std::exit(1);
  }
  std::this_thread::sleep_until(due);
  while (next < tasks) std::this_thread::sleep_for(1ms);
  scheduler.stop();

  std::ranges::sort(starts);
  const auto late = [&](std::size_t place) {
    return duration<double>{starts[place] - due}.count();
  };
  std::cout << late(0) << ' ' << late(tasks / 2) << ' ' << late(tasks - 1) << '\n';
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t tasks = argc == 2 ? std::strtoul(argv[1], nullptr, 10) : 0;
  if (tasks == 0) {
    std::cerr << "burst_peer: how many tasks?\n";
    return 1;
  }
  burst(tasks);
}
