// Where a program is looked for.
#pragma once

#include <string>
#include <vector>

#include "commands/environment.h"

namespace dutiful {

// The files to try, in that order: the program itself where it has a slash, else one in each
// directory of PATH. Relative ones are meant from where the command runs.
[[nodiscard]] std::vector<std::string> places_of(const std::string& program,
                                                 const Environment& environment);

}  // namespace dutiful
