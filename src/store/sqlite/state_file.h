// The file of a state.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace dutiful {

// The absolute path with all links resolved. It is the same whichever links lead to the file, and
// the same before the file exists, because the last link may lead to a file that is still to be
// created.
[[nodiscard]] std::string resolve_state(const std::string& state);

// The path of the file beside the state with that ending.
[[nodiscard]] std::string file_beside(const std::string& state, std::string_view ending);

// Why the file cannot be a state, and what to use instead; empty if it can, or if it does not
// exist.
[[nodiscard]] std::string why_no_file(const std::string& state);
// Throws StoreError for such a file, and for one that does not begin like a database, unless SQLite
// has a journal that restores it. Opens and closes the file, which releases the locks that SQLite
// holds on it in this process.
void refuse_no_state(const std::string& state);

// Marks a database as a state: its application_id, "duti". Stored, so never changed.
inline constexpr std::int64_t state_mark = 0x64757469;
// Whether a file is empty or has that mark. A state whose first transaction is still in SQLite's
// log does not have it yet.
[[nodiscard]] bool has_mark_of_state(int descriptor);

inline constexpr const char* no_database =
    "is not a dutiful state: it is not an SQLite database; use another file";

}  // namespace dutiful
