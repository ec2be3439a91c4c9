// What a database consists of.
#pragma once

#include <set>
#include <string>

namespace dutiful {

class Database;

// Its tables, indices, views and triggers as the statements that make them, but for those that
// SQLite adds by itself. Two databases of equal parts differ only in the rows they hold.
[[nodiscard]] std::set<std::string> parts_of(const Database& database);

}  // namespace dutiful
