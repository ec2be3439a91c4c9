// Likely mistakes in a valid task file.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include <dutiful/calendar.h>

#include "tasks/task_file.h"

namespace dutiful {

// How many runs of a task `check` shows and examines.
inline constexpr int runs_shown = 3;

// Looks for warnings task by task. It checks the users, directories and programs of the host, which
// may take long if there are many tasks or if the host asks a server about its users.
class WarningSearch {
 public:
  // The tasks must outlive it.
  WarningSearch(std::span<const TaskDefinition> tasks, Calendar calendar, Instant now);
  ~WarningSearch();
  WarningSearch(const WarningSearch&) = delete;
  WarningSearch& operator=(const WarningSearch&) = delete;

  // Examines the next task. Requires !is_done().
  void step();
  [[nodiscard]] bool is_done() const;
  // The warnings found since the last call, in the order of the tasks. A file without tasks has one
  // warning, which says so.
  [[nodiscard]] std::vector<Problem> take();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// All warnings.
[[nodiscard]] std::vector<Problem> find_warnings(std::span<const TaskDefinition> tasks,
                                                 const Calendar& calendar,
                                                 Instant now);

}  // namespace dutiful
