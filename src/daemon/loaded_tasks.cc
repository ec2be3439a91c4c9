#include "daemon/loaded_tasks.h"

#include <cstdint>
#include <utility>

#include "daemon/task_changes.h"

namespace dutiful {
namespace {

event::TaskChanged event_of(const TaskChange& change) {
  event::TaskChanged changed{.task = change.task, .keys = {}};
  for (const std::string& key : change.keys) {
    changed.keys.append(changed.keys.empty() ? "" : ",").append(key);
  }
  if (change.time_limit != change.time_limit_before) {
    changed.timeouts = {.before = change.time_limit_before, .after = change.time_limit};
  }
  return changed;
}

std::string more_warnings(std::size_t count) {
  return std::to_string(count) + " more " + (count == 1 ? "warning" : "warnings") +
         "; see dutiful check";
}

}  // namespace

LoadedTasks::LoadedTasks(std::string file, std::string state, Calendar calendar, EventLog& log)
    : file_(std::move(file)),
      state_(std::move(state)),
      calendar_(std::move(calendar)),
      log_(log),
      warnings_(
          {.report = [this](const Problem& found) { report_warning(found.message, found.place); },
           .report_more =
               [this](std::size_t count) { report_warning(more_warnings(count), std::nullopt); }}) {
}

void LoadedTasks::replace(const std::vector<TaskDefinition>& tasks, Instant now) {
  for (const TaskChange& change : find_changes(*tasks_, tasks)) log_.report(event_of(change));
  warnings_.end();  // they refer to the old tasks
  tasks_ = std::make_shared<const std::vector<TaskDefinition>>(tasks);
  warnings_.begin(*tasks_, calendar_, now);
  log_.report(event::TaskFileLoaded{
      .file = file_, .tasks = static_cast<std::int64_t>(tasks_->size()), .state = state_});
}

std::set<std::string, std::less<>> LoadedTasks::names() const {
  std::set<std::string, std::less<>> names;
  for (const TaskDefinition& task : *tasks_) names.insert(task.name);
  return names;
}

void LoadedTasks::report_warning(const std::string& warning, std::optional<Place> place) {
  event::TaskFileWarning event{.file = file_, .warning = warning};
  if (place) {
    event.line = place->line;
    event.column = place->column;
  }
  log_.report(std::move(event));
}

}  // namespace dutiful
