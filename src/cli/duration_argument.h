// A length of time on the command line.
#pragma once

#include <string>

#include <dutiful/time.h>

namespace dutiful {

// Throws UsageError, which names the option.
[[nodiscard]] Duration read_duration(const char* option, const std::string& text);

}  // namespace dutiful
