// The argument EXPR, which shells like to take apart.
#pragma once

#include <string>

#include "cli/command_line.h"

namespace dutiful {

[[nodiscard]] CommandSyntax::Argument expression_argument(std::string& expression);

}  // namespace dutiful
