// Where a program is searched.
#pragma once

#include <string>
#include <vector>

#include "commands/environment.h"

namespace dutiful {

// The files to try, in order: the program itself if it contains a slash, otherwise one in each
// directory of PATH. Relative paths refer to the directory that the command runs in.
[[nodiscard]] std::vector<std::string> places_of(const std::string& program,
                                                 const Environment& environment);

}  // namespace dutiful
