// The argument EXPR, which shells like to take apart.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace dutiful {

// Adds the positional argument EXPR to a command.
void add_expression(CLI::App& command, std::string& expression);

// Throws UsageError where words are left over: an expression that was not quoted, mostly.
void require_one_expression(const CLI::App& command, const std::string& expression);

}  // namespace dutiful
