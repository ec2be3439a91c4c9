// Shared by the scheduler's benchmarks: figures as JSON lines, and lists of tasks.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include <dutiful/scheduler.h>

#include "core/task.h"

namespace dutiful::bench {

// 10:30 UTC. Tasks of `hourly` are due thirty minutes later, and tasks of `rarely` are never due
// while a benchmark runs.
inline constexpr Instant begin = std::chrono::sys_days{std::chrono::year{2025} / 3 / 3} +
                                 std::chrono::hours{10} + std::chrono::minutes{30};
inline constexpr const char* hourly = "0 * * * *";
inline constexpr const char* rarely = "0 0 1 1 *";

// Prints {"figure": name, "tasks": tasks, …} with the measured values and their limit.
void print_figure(const std::string& name, std::size_t tasks, const nlohmann::json& measured);

[[nodiscard]] std::string name_of(std::size_t number);
[[nodiscard]] std::vector<TaskConfig> configs(std::size_t tasks, const char* cron);
// Each task has its own callback.
template <typename F>
[[nodiscard]] std::vector<Registration> registrations(std::size_t tasks,
                                                      const char* cron,
                                                      const F& callback) {
  std::vector<Registration> list;
  list.reserve(tasks);
  for (std::size_t i = 0; i < tasks; ++i) {
    list.push_back({.name = name_of(i),
                    .cron = cron,
                    .callback = F{callback},
                    .retry_delay = std::chrono::minutes{1}});
  }
  return list;
}
[[nodiscard]] inline std::vector<Registration> registrations(std::size_t tasks, const char* cron) {
  return registrations(tasks, cron, [] {});
}

[[nodiscard]] double seconds_since(std::chrono::steady_clock::time_point start);

template <typename Work>
[[nodiscard]] double seconds_of(Work work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return seconds_since(start);
}

// The given percentile. Sorts the values.
[[nodiscard]] double percentile(std::vector<double>& values, double percent);

// The current resident set of this process in bytes.
[[nodiscard]] std::size_t resident_bytes();

}  // namespace dutiful::bench
