#include "postgres/database_error.h"

#include <string_view>

#include <libpq-fe.h>

#include "text/quote.h"

namespace dutiful::postgres {
namespace {

std::string_view remedy_of(std::string_view sqlstate) {
  if (sqlstate == "42501") {
    return "; give the user CREATE on the database, or all rights on the tables in its schema "
           "\"dutiful\"";
  }
  if (sqlstate == "25006") return "; connect to the primary, not to a standby";
  if (sqlstate == "53100") return "; make room on the server's disk";
  if (sqlstate == "55P03" || sqlstate == "57014") return "; another transaction takes too long";
  return "";
}

std::string without_end(std::string_view message) {
  while (!message.empty() && message.back() == '\n') message.remove_suffix(1);
  std::string line{message};
  for (char& c : line) {
    if (c == '\n' || c == '\t') c = ' ';
  }
  return on_one_line(line);
}

}  // namespace

std::string reason_of(const pg_result& result) {
  const char* const state = PQresultErrorField(&result, PG_DIAG_SQLSTATE);
  const char* const text = PQresultErrorField(&result, PG_DIAG_MESSAGE_PRIMARY);
  // libpq's own failures have no fields.
  std::string reason = without_end(text != nullptr ? text : PQresultErrorMessage(&result));
  if (state != nullptr) {
    reason.append(remedy_of(state)).append(" (SQLSTATE ").append(state).append(")");
  }
  return reason;
}

std::string reason_of(const pg_conn& connection) {
  return without_end(PQerrorMessage(&connection));
}

}  // namespace dutiful::postgres
