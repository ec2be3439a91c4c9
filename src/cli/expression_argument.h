// The argument EXPR, which a shell splits unless it is quoted.
#pragma once

#include <string>

#include "cli/command_line.h"

namespace dutiful {

[[nodiscard]] CommandSyntax::Argument expression_argument(std::string& expression);

}  // namespace dutiful
