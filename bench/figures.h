// What the scheduler's benchmarks have in common: figures as JSON lines, and lists of tasks.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include <dutiful/scheduler.h>

#include "core/task.h"

namespace dutiful::bench {

// Half past ten in UTC: tasks of `hourly` are due thirty minutes later, those of `rarely` never are
// while a benchmark runs.
inline constexpr Instant begin = std::chrono::sys_days{std::chrono::year{2025} / 3 / 3} +
                                 std::chrono::hours{10} + std::chrono::minutes{30};
inline constexpr const char* hourly = "0 * * * *";
inline constexpr const char* rarely = "0 0 1 1 *";

// Prints {"figure": name, "tasks": tasks, …} with what was measured, its limit among it.
void print_figure(const std::string& name, std::size_t tasks, const nlohmann::json& measured);

[[nodiscard]] std::string name_of(std::size_t number);
[[nodiscard]] std::vector<TaskConfig> configs(std::size_t tasks, const char* cron);
// Each with a callback of its own.
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

// The value that so many of a hundred are not above. Sorts them.
[[nodiscard]] double percentile(std::vector<double>& values, double percent);

// The resident set of this process now, in bytes.
[[nodiscard]] std::size_t resident_bytes();

}  // namespace dutiful::bench
