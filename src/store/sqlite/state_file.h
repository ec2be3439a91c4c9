// Which file a state is.
#pragma once

#include <string>
#include <string_view>

namespace dutiful {

// The file that a path leads to, in full: the same by whatever links it is reached, and the same
// before it is there as when it is, for the last link may lead to what is only to be made.
[[nodiscard]] std::string resolve_state(const std::string& state);

// The file beside it of that ending.
[[nodiscard]] std::string file_beside(const std::string& state, std::string_view ending);

}  // namespace dutiful
