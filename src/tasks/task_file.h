// A file of tasks: TOML in, tasks or problems out.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <dutiful/error.h>
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

  // The error that a scheduler would have thrown for such a list: its name in the specification
  // (RULES E), which lives for ever, and its details. Empty where the text is no TOML.
  std::string_view error{};
  std::optional<std::size_t> registration_index{};  // of the task, from 0; none: of no single task
  // What stands there, as text: a string as it is, a table or an array as those words. Of a key
  // that is missing: the keys that there are.
  std::optional<std::string> received{};
  std::vector<ErrorField> details{};  // the rest
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
