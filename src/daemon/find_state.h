// Which state a command that only looks is to look at.
#pragma once

#include <optional>
#include <string>

namespace dutiful {

// The state that `where` means: an SQLite file, or a task file, whose state is beside it. Without
// one, the only state in the working directory. Throws std::runtime_error, which says what to give.
[[nodiscard]] std::string find_state(const std::optional<std::string>& where);

}  // namespace dutiful
