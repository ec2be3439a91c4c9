#include "cli/state_argument.h"

#include "daemon/find_state.h"

namespace dutiful {

CommandSyntax::Option state_option(std::optional<std::string>& state) {
  return {.name = "--state",
          .value = "FILE",
          .description =
              "State file, or the task file it belongs to (default: the only state in this "
              "directory)",
          .target = &state};
}

std::string state_of(const std::optional<std::string>& argument) {
  if (argument == "") throw UsageError("--state: the file name is empty");
  try {
    return find_state(argument);
  } catch (const std::runtime_error& error) {
    throw UsageError(error.what());
  }
}

}  // namespace dutiful
