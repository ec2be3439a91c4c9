// The commands of the program, by the file that holds them.
#pragma once

#include <functional>
#include <stdexcept>
#include <string>

#include "cli/console.h"

namespace CLI {
class App;
}

namespace dutiful {

// A command line, or a value on it, that cannot be understood: exit status 2.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// What a command does once its arguments are read.
using Action = std::function<Exit(Console&)>;

// Each adds its command to the program. When that is the one on the command line, `chosen` is what
// it does.
void add_run(CLI::App& program, Action& chosen);
void add_status(CLI::App& program, Action& chosen);
void add_history(CLI::App& program, Action& chosen);
void add_next(CLI::App& program, Action& chosen);
void add_prev(CLI::App& program, Action& chosen);
void add_explain(CLI::App& program, Action& chosen);
void add_simulate(CLI::App& program, Action& chosen);
void add_verify(CLI::App& program, Action& chosen);
void add_check(CLI::App& program, Action& chosen);
void add_import_crontab(CLI::App& program, Action& chosen);

}  // namespace dutiful
