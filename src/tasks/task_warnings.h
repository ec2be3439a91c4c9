// What a task file may hold, but is probably a mistake.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include <dutiful/calendar.h>

#include "tasks/task_file.h"

namespace dutiful {

// How many runs of a task `check` shows, and looks at.
inline constexpr int runs_shown = 3;

// Looks for them task by task, at the host as it is now: its users, directories and programs. That
// may take long where there are many, or where the host has to ask others.
class WarningSearch {
 public:
  // The tasks must outlive it.
  WarningSearch(std::span<const TaskDefinition> tasks, Calendar calendar, Instant now);
  ~WarningSearch();
  WarningSearch(const WarningSearch&) = delete;
  WarningSearch& operator=(const WarningSearch&) = delete;

  // Looks at the next task.
  void step();
  [[nodiscard]] bool is_done() const;
  // Those that were found since the last call, in the order of the tasks; of no tasks, one that
  // there are none.
  [[nodiscard]] std::vector<Problem> take();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// All of them.
[[nodiscard]] std::vector<Problem> find_warnings(std::span<const TaskDefinition> tasks,
                                                 const Calendar& calendar,
                                                 Instant now);

}  // namespace dutiful
