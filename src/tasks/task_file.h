// Task files: TOML in, tasks or problems out.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <dutiful/error.h>
#include <dutiful/time.h>

#include "commands/command.h"
#include "tasks/notifications.h"
#include "tasks/place.h"

namespace dutiful {

// A task of the file, with the settings of [defaults].
struct TaskDefinition {
  std::string name{};
  std::string cron{};
  Duration retry_delay{};
  Duration time_limit{};  // zero: no limit
  Command command{};
  Notifications notifications{};
  Place place{};                   // where the task begins
  bool command_is_shared = false;  // it is in [defaults]
  bool sets_notify_after = false;  // itself, not by [defaults]
};

// A problem of a task file. The message says what is wrong and what to write instead; it is one
// printable line, whatever the file holds.
struct Problem {
  Place place{};
  std::string message{};

  // The error that a scheduler would throw for such a list: its name in the specification (RULES
  // E), which is a literal, and its details. Empty if the text is not TOML.
  std::string_view error{};
  std::optional<std::size_t> registration_index{};  // of the task, from 0; none: no single task
  // The value at that place, as text: a string as it is, a table as "a table". For a missing key:
  // the keys that are present.
  std::optional<std::string> received{};
  std::vector<ErrorField> details{};  // the other details
};

// The tasks of a file, or all of its problems: if there is a problem, there are no tasks.
struct TaskFile {
  std::vector<TaskDefinition> tasks;  // in the order of the file
  std::vector<Problem> problems;      // in the order of the file
};

// Reads a task file; docs/man/dutiful-tasks.5 describes the format. Any text yields either tasks
// that a scheduler accepts or problems. If the text is not TOML, only its first syntax error is
// reported.
[[nodiscard]] TaskFile parse_task_file(std::string_view text);

}  // namespace dutiful
