// Which file a state is.
#pragma once

#include <cstdint>
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

// What marks a database as a state: its application_id, "duti". Stored, so never changed.
inline constexpr std::int64_t state_mark = 0x64757469;
// Whether a file has that mark, or is empty. One whose first transaction is still in SQLite's log
// does not have it yet.
[[nodiscard]] bool has_mark_of_state(int descriptor);

inline constexpr const char* no_database =
    "is not a state of dutiful: it is no SQLite database; use another file";

}  // namespace dutiful
