// Metrics, the events that they count, and the samples of their page.
#pragma once

#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "metrics/metrics.h"
#include "support/times.h"

namespace dutiful {

// The values by their series, both as text: {"dutiful_tasks_failing", "0"}.
inline std::map<std::string, std::string> samples_of(const std::string& page) {
  std::map<std::string, std::string> samples;
  std::istringstream lines{page};
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with('#')) continue;
    const std::size_t space = line.rfind(' ');
    const bool is_new = samples.emplace(line.substr(0, space), line.substr(space + 1)).second;
    if (!is_new) throw std::runtime_error("twice on the page: " + line);
  }
  return samples;
}

// The families with their types: "dutiful_tasks_failing gauge".
inline std::set<std::string> families_of(const std::string& page) {
  std::set<std::string> families;
  std::istringstream lines{page};
  for (std::string line; std::getline(lines, line);) {
    constexpr std::string_view type = "# TYPE ";
    if (line.starts_with(type)) families.insert(line.substr(type.size()));
  }
  return families;
}

// A daemon of which the metrics are asked. Events happen at noon, unless a test says otherwise.
class Observed {
 public:
  explicit Observed(std::size_t tasks_max = 1000) : metrics(tasks_max) {}

  static inline const Instant noon = at("2025-03-03T12:00:00Z");

  void add(event::Any what) { metrics.add({.at = noon, .what = std::move(what)}); }

  // A list is loaded. As the scheduler does, names first the tasks that are removed, and then those
  // of the list in the order of their names.
  void load(const std::set<std::string>& list) {
    for (const std::string& task : listed_) {
      if (!list.contains(task)) add(event::TaskRemoved{.task = task});
    }
    for (const std::string& task : list) {
      if (listed_.contains(task)) {
        add(event::TaskPreserved{.task = task});
      } else {
        add(event::TaskAdded{.task = task, .cron = "* * * * *", .retry_delay = {}});
      }
    }
    listed_ = list;
    input.status.tasks.clear();
    for (const std::string& task : listed_) {
      TaskStatus status;
      status.name = task;
      input.status.tasks.push_back(status);
    }
  }

  // The state of a task that is in the list.
  TaskStatus& status(std::string_view task) {
    return *std::ranges::find(input.status.tasks, task, &TaskStatus::name);
  }

  [[nodiscard]] std::string page() const { return metrics.render(input); }
  [[nodiscard]] std::map<std::string, std::string> samples() const { return samples_of(page()); }

  Metrics metrics;
  MetricsInput input{};

 private:
  std::set<std::string> listed_;
};

}  // namespace dutiful
