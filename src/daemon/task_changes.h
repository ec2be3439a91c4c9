// Finds the changes of a new list that the scheduler does not report.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "tasks/task_file.h"

namespace dutiful {

// The scheduler reports a changed cron expression or retry delay. It does not know the command
// or how it is run.
struct TaskChange {
  std::string task{};
  std::vector<std::string> keys{};  // of the task file, as in "run" or "on_failure"
  Duration time_limit_before{};     // zero: none
  Duration time_limit{};
};

// The changed tasks among those in both lists, in the order of the second.
[[nodiscard]] std::vector<TaskChange> find_changes(std::span<const TaskDefinition> before,
                                                   std::span<const TaskDefinition> after);

}  // namespace dutiful
