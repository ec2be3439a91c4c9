// The option --state of the subcommands that only read a state.
#pragma once

#include <optional>
#include <string>

#include <dutiful/error.h>

#include "cli/command_line.h"

namespace dutiful {

[[nodiscard]] CommandSyntax::Option state_option(std::optional<std::string>& state);

// The state that the option selects. Throws UsageError.
[[nodiscard]] std::string state_of(const std::optional<std::string>& argument);

// Returns what `read` returns. A state that cannot be read is unusable input: throws UsageError.
template <typename Read>
auto read_state(Read read) {
  try {
    return read();
  } catch (const Error& error) {
    throw UsageError(error.what());
  }
}

}  // namespace dutiful
