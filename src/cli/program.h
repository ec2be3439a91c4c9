// The program `dutiful`, apart from the process it runs in.
#pragma once

#include <string>
#include <vector>

#include "cli/console.h"

namespace dutiful {

// Runs the subcommand that the arguments name (without the program's own name). Prints errors on
// `console.err` as "dutiful: <message>"; throws nothing.
[[nodiscard]] Exit run_program(const std::vector<std::string>& arguments, Console& console);

}  // namespace dutiful
