// The tasks that the daemon runs, and what it reports when it loads others.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include <dutiful/calendar.h>

#include "daemon/event_log.h"
#include "daemon/file_warnings.h"
#include "tasks/task_file.h"

namespace dutiful {

// Belongs to one thread.
class LoadedTasks {
 public:
  // The log must outlive this.
  LoadedTasks(std::string file, std::string state, Calendar calendar, EventLog& log);

  // Reports what is new about these tasks: TaskChanged, TaskFileLoaded and, step by step, the
  // warnings of `dutiful check`.
  void replace(const std::vector<TaskDefinition>& tasks, Instant now);

  [[nodiscard]] bool empty() const { return tasks_.empty(); }
  [[nodiscard]] std::set<std::string, std::less<>> names() const;

  // The warnings that are not reported yet; has_warnings() says whether there may be any.
  [[nodiscard]] bool has_warnings() const { return warnings_.has_more(); }
  void report_some_warnings() { warnings_.step(); }
  void drop_warnings() noexcept { warnings_.end(); }

 private:
  void report_warning(const std::string& warning, std::optional<Place> place);

  const std::string file_;
  const std::string state_;
  const Calendar calendar_;
  EventLog& log_;
  std::vector<TaskDefinition> tasks_;
  FileWarnings warnings_;
};

}  // namespace dutiful
