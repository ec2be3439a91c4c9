// Reports the warnings of `dutiful check` while the daemon runs.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "tasks/task_warnings.h"

namespace dutiful {

// Checks a few tasks at a time, so that signals and the supervisor do not wait long.
class FileWarnings {
 public:
  // Gets each warning and, at the end, how many more there are.
  struct Sink {
    std::function<void(const Problem&)> report;
    std::function<void(std::size_t)> report_more;
  };
  explicit FileWarnings(Sink sink) : sink_(std::move(sink)) {}

  // Begins with these tasks, which must outlive the search, and drops the search before.
  void begin(const std::vector<TaskDefinition>& tasks, Calendar calendar, Instant now);
  void end() noexcept { search_.reset(); }

  [[nodiscard]] bool has_more() const { return search_.has_value(); }
  void step();

 private:
  // One mistake must not fill the log with thousands of lines.
  static constexpr std::size_t reported_max = 100;
  static constexpr int tasks_per_step = 16;

  const Sink sink_;
  std::optional<WarningSearch> search_;
  std::size_t found_ = 0;
};

}  // namespace dutiful
