// A prepared statement of SQLite.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

struct sqlite3_stmt;

namespace dutiful {

class Database;

// Parameters and columns count from 0. Every failure is a DatabaseError. The database must outlive
// its statements.
class Statement {
 public:
  Statement(const Database& database, std::string_view sql);

  // Texts and bytes must live until the step.
  void bind(int parameter, std::int64_t value);
  void bind(int parameter, std::string_view text);
  void bind_bytes(int parameter, std::string_view bytes);
  void bind_null(int parameter);

  // Moves to the next row. Returns false if there is none; the statement can then be bound and run
  // again.
  bool step();
  // Runs a statement that returns no row.
  void run();

  [[nodiscard]] bool is_null(int column) const;
  [[nodiscard]] bool is_integer(int column) const;
  [[nodiscard]] bool is_text(int column) const;
  [[nodiscard]] std::string type_name(int column) const;
  [[nodiscard]] std::int64_t integer(int column) const;
  [[nodiscard]] std::string text(int column) const;
  [[nodiscard]] std::size_t size(int column) const;  // of a text, in bytes

 private:
  struct Finalizer {
    void operator()(sqlite3_stmt* statement) const;
  };
  const Database* database_;
  std::unique_ptr<sqlite3_stmt, Finalizer> handle_;
};

}  // namespace dutiful
