// What `dutiful check` would warn of, told while the daemon does its work.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "tasks/task_warnings.h"

namespace dutiful {

// A few tasks at a time: signals and the supervisor wait for no more than that.
class FileWarnings {
 public:
  // The warnings, and at the end how many more there are.
  struct Sink {
    std::function<void(const Problem&)> tell;
    std::function<void(std::size_t)> tell_more;
  };
  explicit FileWarnings(Sink sink) : sink_(std::move(sink)) {}

  // About these tasks, which must outlive it, and no others any more.
  void begin(const std::vector<TaskDefinition>& tasks, Calendar calendar, Instant now);
  void end() noexcept { search_.reset(); }

  [[nodiscard]] bool has_more() const { return search_.has_value(); }
  void step();

 private:
  // A log is no place for thousands of lines about one mistake.
  static constexpr std::size_t told_max = 100;
  static constexpr int tasks_per_step = 16;

  const Sink sink_;
  std::optional<WarningSearch> search_;
  std::size_t found_ = 0;
};

}  // namespace dutiful
