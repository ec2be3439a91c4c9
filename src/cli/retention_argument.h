// How much of the history to keep, on the command line.
#pragma once

#include <cstdint>
#include <string>

#include "daemon/retention.h"

namespace dutiful {

// 100, 14d, or 100,14d: a number of runs, an age, or both. Sets both in the retention. Throws
// UsageError, which names the option.
void read_retention(const char* option, const std::string& text, Retention& retention);

// A number of bytes, or of KiB or MiB: 8192, 8KiB. Throws UsageError, which names the option.
[[nodiscard]] std::uint64_t read_size(const char* option,
                                      const std::string& text,
                                      std::uint64_t most);

}  // namespace dutiful
