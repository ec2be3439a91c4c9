// What is allowed in a task file, and yet hardly meant.
#pragma once

#include <span>
#include <vector>

#include <dutiful/calendar.h>

#include "tasks/task_file.h"

namespace dutiful {

// How many runs of a task `check` shows, and looks at.
inline constexpr int runs_shown = 3;

// In the order of the tasks; of no tasks, one that there are none. Looks at the host as it is now:
// its users, directories and programs.
[[nodiscard]] std::vector<Problem> find_warnings(std::span<const TaskDefinition> tasks,
                                                 const Calendar& calendar,
                                                 Instant now);

}  // namespace dutiful
