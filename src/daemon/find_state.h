// Finds the state for commands that only read it.
#pragma once

#include <optional>
#include <string>

namespace dutiful {

// The state that `where` names: an SQLite file, or a task file, whose state is beside it. Without
// `where`, the only state in the working directory. Throws std::runtime_error, which says what to
// do.
[[nodiscard]] std::string find_state(const std::optional<std::string>& where);

}  // namespace dutiful
