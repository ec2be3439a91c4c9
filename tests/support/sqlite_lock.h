// Another program that takes its time writing to an SQLite file.
#pragma once

#include <stdexcept>
#include <string>

#include <sqlite3.h>

namespace dutiful {

// During its life, others can read and no one can write.
class SqliteLock {
 public:
  explicit SqliteLock(const std::string& path) {
    if (sqlite3_open(path.c_str(), &database_) != SQLITE_OK) throw std::runtime_error("no file");
    execute("BEGIN IMMEDIATE");
  }
  ~SqliteLock() { release(); }
  SqliteLock(const SqliteLock&) = delete;
  SqliteLock& operator=(const SqliteLock&) = delete;

  void release() {
    if (database_ == nullptr) return;
    execute("ROLLBACK");
    sqlite3_close(database_);
    database_ = nullptr;
  }

 private:
  void execute(const char* sql) {
    if (sqlite3_exec(database_, sql, nullptr, nullptr, nullptr) != SQLITE_OK) {
      throw std::runtime_error(sqlite3_errmsg(database_));
    }
  }
  sqlite3* database_ = nullptr;
};

}  // namespace dutiful
