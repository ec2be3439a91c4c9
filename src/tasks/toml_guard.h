// Keeps from the TOML library what it would stumble over.
#pragma once

#include <optional>
#include <string_view>

#include "tasks/task_file.h"

namespace dutiful {

// How many parts a key may have, and how deeply values may nest. A task file needs three.
inline constexpr int nesting_max = 16;

// Why the library must not see the text:
//
// - it has bytes that are not UTF-8, whose place the library gets wrong;
// - a key has more parts than `nesting_max`: each is a table in the one before, and the library
//   takes such a chain apart by recursion. (Arrays and inline tables it limits itself.) Found up to
//   the first syntax error, behind which the library makes no tables.
[[nodiscard]] std::optional<Problem> guard_toml(std::string_view text);

}  // namespace dutiful
