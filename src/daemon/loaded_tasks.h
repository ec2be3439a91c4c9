// The tasks that the daemon runs, and the events that it reports when it loads a new list.
#pragma once

#include <functional>
#include <memory>
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

  // Replaces the tasks, and reports TaskChanged for each changed task, TaskFileLoaded and, step by
  // step, the warnings of `dutiful check`.
  void replace(const std::vector<TaskDefinition>& tasks, Instant now);

  [[nodiscard]] bool empty() const { return tasks_->empty(); }
  // For other threads, too.
  [[nodiscard]] std::shared_ptr<const std::vector<TaskDefinition>> shared() const { return tasks_; }
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
  std::shared_ptr<const std::vector<TaskDefinition>> tasks_ =
      std::make_shared<const std::vector<TaskDefinition>>();
  FileWarnings warnings_;
};

}  // namespace dutiful
