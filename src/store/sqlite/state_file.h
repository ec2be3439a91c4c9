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

// Why what is there can be no state, and what to give; empty where it can, or nothing is there.
[[nodiscard]] std::string why_no_file(const std::string& state);
// Throws StoreError for that, and for a file that begins as no database does, unless SQLite has a
// journal to make it one again. Opens and closes it, which takes away the locks that SQLite has on
// it in this process.
void refuse_no_state(const std::string& state);

inline constexpr const char* no_database =
    "is not a state of dutiful: it is no SQLite database; use another file";

}  // namespace dutiful
