// Which tasks an operator looks at first.
#pragma once

#include <string_view>
#include <vector>

#include <dutiful/status.h>

namespace dutiful {

// In the order of attention.
enum class TaskGroup { failing, overdue, running, good };

[[nodiscard]] inline TaskGroup group_of(const TaskStatus& task) {
  if (task.is_failing()) return TaskGroup::failing;
  if (task.overdue_since) return TaskGroup::overdue;
  return task.state == TaskStatus::State::running ? TaskGroup::running : TaskGroup::good;
}

// "failing", "overdue", "running" or "good".
[[nodiscard]] inline const char* name_of(TaskGroup group) {
  switch (group) {
    case TaskGroup::failing:
      return "failing";
    case TaskGroup::overdue:
      return "overdue";
    case TaskGroup::running:
      return "running";
    case TaskGroup::good:
      return "good";
  }
  return "";
}

// The tasks whose names contain the text, by group, and by name within a group.
[[nodiscard]] std::vector<TaskStatus> sorted_by_group(const std::vector<TaskStatus>& tasks,
                                                      std::string_view search);

}  // namespace dutiful
