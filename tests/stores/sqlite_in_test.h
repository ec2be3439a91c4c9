// A state in a file, programs that tamper with it, and processes that hold it.
#pragma once

#include <csignal>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include <dutiful/errors.h>

#include "store/sqlite/sqlite_store.h"
#include "stores/plan_of.h"
#include "support/temporary_directory.h"
#include "support/times.h"

namespace dutiful {

// A process that holds a state until it is killed.
class AnotherHolder {
 public:
  explicit AnotherHolder(const std::string& state) {
    int ready[2];
    if (pipe(ready) != 0) throw std::runtime_error("pipe");
    process_ = fork();
    if (process_ == 0) {
      const auto held = open_sqlite_store(state);
      (void)!write(ready[1], "x", 1);
      while (true) pause();
    }
    close(ready[1]);
    char byte = 0;
    const ssize_t size = read(ready[0], &byte, 1);
    close(ready[0]);
    if (size != 1) {
      be_killed();
      throw std::runtime_error("another process cannot hold " + state);
    }
  }
  ~AnotherHolder() { be_killed(); }
  AnotherHolder(const AnotherHolder&) = delete;
  AnotherHolder& operator=(const AnotherHolder&) = delete;

  void be_killed() {
    const pid_t process = std::exchange(process_, -1);
    if (process < 0) return;
    kill(process, SIGKILL);
    waitpid(process, nullptr, 0);
  }

 private:
  pid_t process_ = -1;
};

class Sqlite : public testing::Test {
 protected:
  TemporaryDirectory directory;
  std::string path = directory.file("state.db");

  static PlannedTask planned(const std::string& name) {
    return PlannedTask{
        .config = {.name = name, .cron = "0 0 * * *", .retry_delay = Duration{60'000}},
        .schedule = CronExpression::parse("0 0 * * *"),
        .progress = {.first_coming = at("2025-03-03T10:00:00Z"),
                     .served_until = at("2025-03-03T10:00:00Z")},
        .classification = Classification::added};
  }

  // Writes two tasks and releases the state.
  void make_state() {
    open_sqlite_store(path)->replace(plan_of({}, planned("a"), planned("b")), "first");
  }

  // Another program changes the file.
  void tamper(const char* sql) const {
    sqlite3* database = nullptr;
    ASSERT_EQ(sqlite3_open(path.c_str(), &database), SQLITE_OK);
    char* message = nullptr;
    EXPECT_EQ(sqlite3_exec(database, sql, nullptr, nullptr, &message), SQLITE_OK) << message;
    sqlite3_close(database);
  }

  // What another program reads: the columns of each row, with a bar between them.
  [[nodiscard]] std::vector<std::string> query(const char* sql) const {
    sqlite3* database = nullptr;
    EXPECT_EQ(sqlite3_open(path.c_str(), &database), SQLITE_OK);
    std::vector<std::string> rows;
    const auto add = [](void* to, int columns, char** values, char**) {
      std::string row;
      for (int i = 0; i < columns; ++i) row += (i == 0 ? "" : "|") + std::string{values[i]};
      static_cast<std::vector<std::string>*>(to)->push_back(row);
      return 0;
    };
    EXPECT_EQ(sqlite3_exec(database, sql, add, &rows, nullptr), SQLITE_OK);
    sqlite3_close(database);
    return rows;
  }

  // The same, bypassing the constraints of the schema, which is unchanged afterwards.
  void tamper_unchecked(const std::string& sql) const {
    const auto replace = [](const char* old, const char* with) {
      return std::string{
                 "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, '"} +
             old + "', '" + with + "'); PRAGMA writable_schema = RESET;";
    };
    tamper((replace(" NOT NULL", " /*NULL*/") + sql + ';' + replace(" /*NULL*/", " NOT NULL"))
               .c_str());
  }

  std::string bytes() const {
    std::ifstream file{path, std::ios::binary};
    std::ostringstream out;
    out << file.rdbuf();
    return out.str();
  }

  template <typename Expected, typename Call>
  std::string error_of(Call call) {
    try {
      call();
      return "no error";
    } catch (const Expected& error) {
      return error.what();
    } catch (const std::exception& error) {
      return std::string{"another error: "} + error.what();
    }
  }
  std::string open_error() {
    return error_of<StoreError>([&] { (void)open_sqlite_store(path); });
  }
  template <typename Expected>
  std::string load_error() {
    return error_of<Expected>([&] { (void)open_sqlite_store(path)->load(); });
  }
};

}  // namespace dutiful
