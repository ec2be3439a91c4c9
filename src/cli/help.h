// The text of --help.
#pragma once

#include <string>

#include "cli/command_line.h"

namespace dutiful {

[[nodiscard]] std::string help_of(const ProgramSyntax& program);

// Shows the targets as defaults, so call it before they are set.
[[nodiscard]] std::string help_of(const ProgramSyntax& program, const CommandSyntax& command);

// An option as it is written: --count N.
[[nodiscard]] std::string form_of(const CommandSyntax::Option& option);

}  // namespace dutiful
