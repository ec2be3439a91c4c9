// A number on the command line.
#pragma once

#include <cstdint>
#include <string>

namespace dutiful {

// No less than `least`, and no more than SQLite can count to (2^63 - 1). Throws UsageError, which
// names the option.
[[nodiscard]] std::uint64_t read_number(const char* option,
                                        const std::string& text,
                                        std::uint64_t least);

}  // namespace dutiful
