#include "store/sqlite/statement.h"

#include <sqlite3.h>

#include "store/sqlite/database.h"

namespace dutiful {

void Statement::Finalizer::operator()(sqlite3_stmt* statement) const {
  sqlite3_finalize(statement);
}

Statement::Statement(const Database& database, std::string_view sql) : database_(&database) {
  sqlite3_stmt* handle = nullptr;
  database.check(sqlite3_prepare_v3(database.handle_.get(),
                                    sql.data(),
                                    static_cast<int>(sql.size()),
                                    SQLITE_PREPARE_PERSISTENT,
                                    &handle,
                                    nullptr));
  handle_.reset(handle);
}

void Statement::bind(int parameter, std::int64_t value) {
  database_->check(sqlite3_bind_int64(handle_.get(), parameter + 1, value));
}
void Statement::bind(int parameter, std::string_view text) {
  database_->check(sqlite3_bind_text64(
      handle_.get(), parameter + 1, text.data(), text.size(), SQLITE_STATIC, SQLITE_UTF8));
}
void Statement::bind_bytes(int parameter, std::string_view bytes) {
  database_->check(
      sqlite3_bind_blob64(handle_.get(), parameter + 1, bytes.data(), bytes.size(), SQLITE_STATIC));
}
void Statement::bind_null(int parameter) {
  database_->check(sqlite3_bind_null(handle_.get(), parameter + 1));
}

bool Statement::step() {
  const int code = sqlite3_step(handle_.get());
  if (code == SQLITE_ROW) return true;
  sqlite3_reset(handle_.get());
  database_->check(code);
  return false;
}

void Statement::run() {
  (void)step();
}

bool Statement::is_null(int column) const {
  return sqlite3_column_type(handle_.get(), column) == SQLITE_NULL;
}
bool Statement::is_integer(int column) const {
  return sqlite3_column_type(handle_.get(), column) == SQLITE_INTEGER;
}
bool Statement::is_text(int column) const {
  return sqlite3_column_type(handle_.get(), column) == SQLITE_TEXT;
}

std::string Statement::type_name(int column) const {
  switch (sqlite3_column_type(handle_.get(), column)) {
    case SQLITE_INTEGER:
      return "integer";
    case SQLITE_FLOAT:
      return "real";
    case SQLITE_TEXT:
      return "text";
    case SQLITE_BLOB:
      return "blob";
    default:
      return "null";
  }
}

std::int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(handle_.get(), column);
}

std::string Statement::text(int column) const {
  const auto* bytes = static_cast<const char*>(sqlite3_column_blob(handle_.get(), column));
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(handle_.get(), column));
  return bytes == nullptr ? std::string{} : std::string{bytes, size};
}

std::size_t Statement::size(int column) const {
  return static_cast<std::size_t>(sqlite3_column_bytes(handle_.get(), column));
}

}  // namespace dutiful
