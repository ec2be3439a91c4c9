// A task as JSON, for the API.
#pragma once

#include <string>
#include <unordered_map>

#include <dutiful/status.h>

#include "daemon/recent_runs.h"
#include "tasks/task_file.h"

namespace dutiful {

// Schedules in English. Many tasks have the same schedule, so the answers are kept, up to a bound.
class EnglishTexts {
 public:
  [[nodiscard]] const std::string& of(const TaskStatus& task);

 private:
  std::unordered_map<std::string_view, std::string> texts_;  // by the cron text, which is shared
};

// Appends one object, as docs/http.md describes it. The names of members that `status --json` has
// too are the same. The texts require the status to which the tasks belong.
void append_json(std::string& text,
                 const TaskStatus& task,
                 const RecentRuns& recent,
                 EnglishTexts& english);

// What the task file says about the task. Of its environment only the names: values may be secret.
void append_json(std::string& text, const TaskDefinition& definition, const std::string& file);

}  // namespace dutiful
