#include "cli/state_argument.h"

#include <CLI/CLI.hpp>

#include "daemon/find_state.h"

namespace dutiful {

void add_state_option(CLI::App& command, std::optional<std::string>& state) {
  command.add_option("--state", state)
      ->type_name("FILE")
      ->description(
          "The state, or the task file that it belongs to (default: the only state in this "
          "directory)");
}

std::string state_of(const std::optional<std::string>& argument) {
  if (argument == "") throw UsageError("--state: an empty name is no file");
  try {
    return find_state(argument);
  } catch (const std::runtime_error& error) {
    throw UsageError(error.what());
  }
}

}  // namespace dutiful
