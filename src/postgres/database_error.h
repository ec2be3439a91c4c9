// Failures of PostgreSQL in words for its user.
#pragma once

#include <string>

struct pg_conn;
struct pg_result;

namespace dutiful::postgres {

// What the server said about a statement, on one line, and what to do about it if we know.
[[nodiscard]] std::string reason_of(const pg_result& result);

// Why there is no connection, on one line.
[[nodiscard]] std::string reason_of(const pg_conn& connection);

}  // namespace dutiful::postgres
