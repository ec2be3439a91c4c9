// A number on the command line.
#pragma once

#include <cstdint>
#include <limits>
#include <string>

namespace dutiful {

struct NumberRange {
  std::uint64_t least = 0;
  std::uint64_t most = std::numeric_limits<std::int64_t>::max();  // the largest integer of SQLite
};

// A whole number in the range. Throws UsageError, which names the option.
[[nodiscard]] std::uint64_t read_number(const char* option,
                                        const std::string& text,
                                        NumberRange range);

}  // namespace dutiful
