// The tables and other parts of a database.
#pragma once

#include <set>
#include <string>

namespace dutiful {

class Database;

// Its tables, indices, views and triggers as the statements that create them, without those that
// SQLite adds itself. Two databases with equal parts differ only in their rows.
[[nodiscard]] std::set<std::string> parts_of(const Database& database);

}  // namespace dutiful
