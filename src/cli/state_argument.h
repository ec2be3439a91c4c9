// The state that a command looks at: --state, and what is said where it cannot be read.
#pragma once

#include <optional>
#include <string>

#include <dutiful/error.h>

#include "cli/command_line.h"

namespace dutiful {

[[nodiscard]] CommandSyntax::Option state_option(std::optional<std::string>& state);

// The state that is meant. Throws UsageError, which says what to give.
[[nodiscard]] std::string state_of(const std::optional<std::string>& argument);

// What `read` reads of it. A state that cannot be read is input that cannot: throws UsageError.
template <typename Read>
auto read_state(Read read) {
  try {
    return read();
  } catch (const Error& error) {
    throw UsageError(error.what());
  }
}

}  // namespace dutiful
