// What a new list changes in the tasks that it keeps, as far as the scheduler does not tell it.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "tasks/task_file.h"

namespace dutiful {

// The scheduler knows an expression and a retry delay, and tells where they change. What is run,
// and how, it does not see.
struct TaskChange {
  std::string task{};
  std::vector<std::string> keys{};  // of the task file: run, directory, environment, user, timeout
  Duration time_limit_before{};     // zero: none
  Duration time_limit{};
};

// The tasks of both lists that differ so, in the order of the second.
[[nodiscard]] std::vector<TaskChange> find_changes(std::span<const TaskDefinition> before,
                                                   std::span<const TaskDefinition> after);

}  // namespace dutiful
