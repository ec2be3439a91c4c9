#include "figures.h"

#include <algorithm>
#include <fstream>
#include <iostream>

#include <nlohmann/json.hpp>
#include <unistd.h>

namespace dutiful::bench {

void print_figure(const std::string& name, std::size_t tasks, const nlohmann::json& measured) {
  nlohmann::ordered_json line{{"figure", name}, {"tasks", tasks}};
  for (const auto& [key, value] : measured.items()) line[key] = value;
  std::cout << line.dump() << std::endl;
}

std::string name_of(std::size_t number) {
  return "task " + std::to_string(number);
}

std::vector<TaskConfig> configs(std::size_t tasks, const char* cron) {
  std::vector<TaskConfig> list;
  list.reserve(tasks);
  for (std::size_t i = 0; i < tasks; ++i) {
    list.push_back({.name = name_of(i), .cron = cron, .retry_delay = std::chrono::minutes{1}});
  }
  return list;
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>{std::chrono::steady_clock::now() - start}.count();
}

double percentile(std::vector<double>& values, double percent) {
  std::ranges::sort(values);
  return values[static_cast<std::size_t>(percent / 100 * static_cast<double>(values.size() - 1))];
}

std::size_t resident_bytes() {
  std::size_t total = 0;
  std::size_t resident = 0;
  std::ifstream{"/proc/self/statm"} >> total >> resident;
  return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace dutiful::bench
