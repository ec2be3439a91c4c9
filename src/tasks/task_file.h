// A file of tasks: TOML in, tasks or problems out.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <dutiful/time.h>

#include "commands/command.h"
#include "tasks/place.h"

namespace dutiful {

// A task as the file has it, with what [defaults] adds.
struct TaskDefinition {
  std::string name{};
  std::string cron{};
  Duration retry_delay{};
  Duration time_limit{};  // zero: none
  Command command{};
  Place place{};                   // where the task begins
  bool command_is_shared = false;  // it stands in [defaults]
};

// Something that is wrong, and what to write instead. The message is one line that is fit to be
// shown, whatever the file holds.
struct Problem {
  Place place{};
  std::string message{};

  friend bool operator==(const Problem&, const Problem&) = default;
};

// The tasks of a file, or everything that is wrong with it: where there is a problem, there are no
// tasks.
struct TaskFile {
  std::vector<TaskDefinition> tasks;  // in the order of the file
  std::vector<Problem> problems;      // in the order of the file
};

// Reads a task file; docs/man/dutiful-tasks.5 says what it may hold. Whatever the text, the answer
// is tasks that a scheduler accepts, or problems. Of faults in the TOML itself only the first is
// found, and none of those that a task may have besides.
[[nodiscard]] TaskFile parse_task_file(std::string_view text);

}  // namespace dutiful
