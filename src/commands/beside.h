// A command that runs beside the tasks.
#pragma once

#include <string>

#include <dutiful/time.h>

#include "commands/environment.h"

namespace dutiful {

// How such a command differs from the command of a task. It is about a run of the task, but is no
// run itself: neither its output nor its result is passed on to the listeners of CommandOptions.
struct Beside {
  Environment variables{};  // in addition to those that describe the run
  std::string input{};      // its standard input
  Duration time_limit{};    // it is terminated after that
};

}  // namespace dutiful
