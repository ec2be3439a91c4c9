// A file of tasks: TOML in, tasks or problems out.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <dutiful/time.h>

#include "tasks/command.h"

namespace dutiful {

// A place in a file, counted from 1.
struct Place {
  std::uint32_t line = 1;
  std::uint32_t column = 1;
};

struct TaskDefinition {
  std::string name;
  std::string cron;
  Duration retry_delay{};
  Duration time_limit{};  // zero: none
  Command command;
  Place place;  // where the task begins
};

// Something that is wrong, and what to write instead.
struct Problem {
  Place place;
  std::string message;
};

// The tasks of a file, or everything that is wrong with it: where there is a problem, the tasks are
// not to be run.
struct TaskFile {
  std::vector<TaskDefinition> tasks;  // in the order of the file
  std::vector<Problem> problems;      // in the order of the file
};

[[nodiscard]] TaskFile parse_task_file(std::string_view text);

}  // namespace dutiful
