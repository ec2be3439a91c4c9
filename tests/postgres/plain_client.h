// A connection of the tests themselves, which waits for each answer.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <libpq-fe.h>

namespace dutiful {

class PlainClient {
 public:
  explicit PlainClient(const std::string& address)
      : connection_(PQconnectdb(address.c_str()), PQfinish) {
    if (PQstatus(connection_.get()) != CONNECTION_OK) fail();
    // The server would have to remark on objects that are dropped together.
    PQsetNoticeProcessor(
        connection_.get(), [](void*, const char*) {}, nullptr);
  }

  // The rows, with their columns separated by "|".
  std::vector<std::string> rows(const std::string& sql) {
    const std::unique_ptr<PGresult, decltype(&PQclear)> result{
        PQexec(connection_.get(), sql.c_str()), PQclear};
    const auto status = PQresultStatus(result.get());
    if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK) fail();
    std::vector<std::string> rows;
    for (int row = 0; row < PQntuples(result.get()); ++row) {
      std::string text;
      for (int column = 0; column < PQnfields(result.get()); ++column) {
        text.append(column == 0 ? "" : "|").append(PQgetvalue(result.get(), row, column));
      }
      rows.push_back(text);
    }
    return rows;
  }
  void run(const std::string& sql) { (void)rows(sql); }
  // The only value of the only row.
  std::string value(const std::string& sql) { return rows(sql).at(0); }

 private:
  [[noreturn]] void fail() const { throw std::runtime_error(PQerrorMessage(connection_.get())); }

  std::unique_ptr<PGconn, decltype(&PQfinish)> connection_;
};

}  // namespace dutiful
