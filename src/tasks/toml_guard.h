// Rejects texts that the TOML library cannot handle.
#pragma once

#include <optional>
#include <string_view>

#include "tasks/task_file.h"

namespace dutiful {

// How many parts a key may have and how deeply values may nest. A task file needs three.
inline constexpr int nesting_max = 16;

// The problem for which the text must not be passed to the library; nothing if it may be:
//
// - the text has bytes that are not UTF-8, whose place the library reports wrongly;
// - a key has more than `nesting_max` parts: each part is a table inside the previous one, and the
//   library destroys such a chain by recursion. (It limits arrays and inline tables itself.) Only
//   keys before the first syntax error are found; the library makes no tables after it.
[[nodiscard]] std::optional<Problem> guard_toml(std::string_view text);

}  // namespace dutiful
