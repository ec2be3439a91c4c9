// What --help prints.
#pragma once

#include <string>

#include "cli/command_line.h"

namespace dutiful {

[[nodiscard]] std::string help_of(const ProgramSyntax& program);

// Shows the defaults that the targets hold, so it comes before they are set.
[[nodiscard]] std::string help_of(const ProgramSyntax& program, const CommandSyntax& command);

// An option as one writes it: --count N.
[[nodiscard]] std::string form_of(const CommandSyntax::Option& option);

}  // namespace dutiful
