// Policies on the command line (RULES, "policy").
#pragma once

#include <string>

#include <dutiful/policies.h>

#include "cli/command_line.h"

namespace dutiful {

// The targets hold the defaults: `both`, `keep_history`.
[[nodiscard]] CommandSyntax::Option repeated_option(std::string& repeated);
[[nodiscard]] CommandSyntax::Option override_option(std::string& override);

// The policies of these names. Require one of the choices.
[[nodiscard]] RepeatedMinutes read_repeated(const std::string& repeated);
[[nodiscard]] Override read_override(const std::string& override);

}  // namespace dutiful
