// X4: a state that another program made or changed is rejected before anything in it runs, and
// reading it is bounded.

#include <array>
#include <initializer_list>
#include <string_view>

#include "store/sqlite/database.h"
#include "stores/sqlite_in_test.h"

namespace dutiful {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class SqliteSchema : public Sqlite {
 protected:
  void expect_refused(const std::string& what) {
    const auto is_rejection = AllOf(HasSubstr("was changed by another program"),
                                    HasSubstr(what),
                                    HasSubstr("; restore it from a backup or use another file"));
    EXPECT_THAT(open_error(), is_rejection);
    EXPECT_THAT(error_of<StoreError>([&] { (void)read_sqlite_state(path); }), is_rejection);
    EXPECT_THAT(error_of<StoreError>([&] { check_sqlite_state(path); }), is_rejection);
  }
};

// The first of them would never end.
TEST_F(SqliteSchema, that_is_not_ours_is_rejected) {
  for (const char* change : std::initializer_list<const char*>{
           "DROP TABLE task;"
           "CREATE VIEW task AS WITH RECURSIVE n (id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n)"
           " SELECT id, 'a' || id AS name, '* * * * *' AS cron, 0 AS retry_delay_ms FROM n",
           "CREATE TRIGGER t AFTER UPDATE ON progress BEGIN DELETE FROM task; END",
           "CREATE TABLE theirs (x)",
           "CREATE VIEW theirs AS SELECT 1",
           "CREATE INDEX theirs ON task (cron)",
           "DROP TABLE progress",
           "ALTER TABLE task ADD COLUMN x",
           "ALTER TABLE task ADD COLUMN x AS (abs(-9223372036854775808))",
           "ALTER TABLE task RENAME COLUMN cron TO schedule",
           "DROP TABLE task; CREATE TABLE task (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE"
           " COLLATE NOCASE, cron TEXT NOT NULL, retry_delay_ms INTEGER NOT NULL)",
           "PRAGMA user_version = 0",
           "PRAGMA user_version = -1",
       }) {
    SCOPED_TRACE(change);
    path = directory.file(std::to_string(std::hash<std::string_view>{}(change)));
    make_state();
    tamper(change);
    const std::string before = bytes();
    expect_refused("its tables are not those of dutiful");
    EXPECT_EQ(bytes(), before);
  }
}

// SQLite keeps statistics in tables of its own and stores statements in a different layout.
TEST_F(SqliteSchema, may_have_parts_that_SQLite_adds) {
  make_state();
  tamper("ANALYZE; VACUUM");
  EXPECT_EQ(open_sqlite_store(path)->load().records.size(), 2);
  tamper(
      "DROP TABLE task;"
      "CREATE TABLE  task(id  INTEGER PRIMARY KEY,\n name TEXT NOT NULL UNIQUE, cron TEXT NOT NULL,"
      " retry_delay_ms INTEGER NOT NULL )");
  EXPECT_TRUE(open_sqlite_store(path)->load().records.empty());
}

// Whether it was created in that version or migrated to it.
TEST_F(SqliteSchema, of_any_version_is_the_result_of_its_steps) {
  constexpr std::array steps{"CREATE TABLE a (\n  x INTEGER\n);",
                             "ALTER TABLE a ADD COLUMN y; CREATE TABLE b (z);"};
  constexpr std::array at_once{"CREATE TABLE c (x);",
                               "CREATE TABLE a (x INTEGER, y); DROP TABLE c;"
                               " CREATE TABLE b (z)"};
  const Database::Format first{
      .mark = 7, .steps = std::span{steps}.first(1), .foreign = "", .remedy = ""};
  const Database::Format second{.mark = 7, .steps = steps, .foreign = "", .remedy = ""};
  const Database::Format same{.mark = 7, .steps = at_once, .foreign = "", .remedy = ""};
  {
    Database database{path};
    database.migrate(first, database.check_format(first));
  }
  Database database{path};
  EXPECT_EQ(database.check_format(first), 1);
  EXPECT_EQ(database.check_format(second), 1);
  database.migrate(second, 1);
  EXPECT_EQ(database.check_format(second), 2);
  EXPECT_EQ(database.check_format(same), 2);
  EXPECT_THROW((void)database.check_format(first), DatabaseError);
  database.execute("DROP TABLE b");
  EXPECT_THROW((void)database.check_format(second), DatabaseError);
}

// The names in it would be different.
TEST_F(SqliteSchema, of_another_encoding_is_rejected) {
  make_state();
  std::string statements = "PRAGMA encoding = 'UTF-16';";
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &database), SQLITE_OK);
  const auto add = [](void* to, int /*columns*/, char** values, char** /*names*/) {
    static_cast<std::string*>(to)->append(values[0]).append(";");
    return 0;
  };
  sqlite3_exec(
      database,
      "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL UNION ALL"
      " SELECT 'PRAGMA application_id = ' || application_id FROM pragma_application_id"
      " UNION ALL SELECT 'PRAGMA user_version = ' || user_version FROM pragma_user_version",
      add,
      &statements,
      nullptr);
  sqlite3_close(database);
  path = directory.file("wide.db");
  tamper(statements.c_str());
  expect_refused("its text is not UTF-8");
}

// E, P7: no scheduler writes a name longer than 1,024 bytes.
TEST_F(SqliteSchema, with_a_name_that_is_too_long_is_rejected) {
  make_state();
  for (const char* name : {"printf('%.*c', 1025, 'x')", "CAST(zeroblob(5000000) AS TEXT)"}) {
    SCOPED_TRACE(name);
    tamper((std::string{"UPDATE task SET name = "} + name + " WHERE id = 2").c_str());
    EXPECT_EQ(load_error<TaskInvalidValueError>(),
              "Invalid value for field 'name': it is longer than 1024 bytes");
  }
  tamper("UPDATE task SET name = printf('%.*c', 1024, 'x') WHERE id = 2");
  EXPECT_EQ(open_sqlite_store(path)->load().records.at(1).config.name, std::string(1024, 'x'));
  tamper("UPDATE scheduler SET identifier = printf('%.*c', 1025, 'x')");
  EXPECT_EQ(load_error<TaskInvalidValueError>(),
            "Invalid value for field 'schedulerIdentifier': it is longer than 1024 bytes (task "
            "\"a\")");
  tamper("UPDATE scheduler SET identifier = CAST(zeroblob(5000000) AS TEXT)");
  EXPECT_THAT(load_error<StoreError>(), HasSubstr("is damaged: a value in it is too long"));
}

// P7: like any damaged configuration.
TEST_F(SqliteSchema, with_an_expression_that_is_too_long_can_be_overridden) {
  make_state();
  tamper(
      "INSERT INTO task VALUES (9, 'c', 'x', 0);"
      "INSERT INTO progress (task, scheduler, state, boot_pending, orphan_pending, attempt,"
      " first_coming, served_until)"
      " SELECT 9, scheduler, 0, 0, 0, 0, first_coming, served_until FROM progress LIMIT 1");
  for (const char* cron : {"printf('%.*c', 1025, ' ')", "CAST(zeroblob(5000000) AS TEXT)"}) {
    SCOPED_TRACE(cron);
    tamper((std::string{"UPDATE task SET cron = "} + cron + " WHERE id <> 2").c_str());
    const auto records = open_sqlite_store(path)->load().records;
    ASSERT_EQ(records.size(), 3);
    EXPECT_EQ(records[0].config.name, "a");
    EXPECT_EQ(records[0].config.cron, "");
    EXPECT_EQ(records[1].config.cron, "0 0 * * *");
    EXPECT_EQ(records[2].row, 9);
    EXPECT_EQ(records[2].config.cron, "");
  }
}

TEST_F(SqliteSchema, with_any_other_value_that_is_too_long_is_rejected) {
  make_state();
  tamper("UPDATE progress SET pulse = zeroblob(5000000)");
  EXPECT_THAT(load_error<StoreError>(), HasSubstr("is damaged: a value in it is too long"));
}

// A few pages that form a cycle hold more rows than anyone could ever read.
TEST_F(SqliteSchema, with_pages_in_a_cycle_is_rejected) {
  Plan plan;
  for (int i = 0; i < 300; ++i) plan.tasks.push_back(planned(std::to_string(i)));
  open_sqlite_store(path)->replace(plan, "first");
  std::string damaged = bytes();
  const auto number = [&](std::size_t at, std::size_t size) {
    std::size_t value = 0;
    for (std::size_t i = 0; i < size; ++i) {
      value = value << 8U | static_cast<unsigned char>(damaged[at + i]);
    }
    return value;
  };
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &database), SQLITE_OK);
  std::size_t root = 0;
  sqlite3_exec(
      database,
      "SELECT rootpage FROM sqlite_schema WHERE name = 'task'",
      [](void* to, int /*columns*/, char** values, char** /*names*/) {
        *static_cast<std::size_t*>(to) = std::stoul(values[0]);
        return 0;
      },
      &root,
      nullptr);
  sqlite3_close(database);
  const std::size_t page = (root - 1) * number(16, 2);
  ASSERT_EQ(damaged[page], 5) << "an inner page of a table";
  const std::size_t cells = number(page + 3, 2);
  ASSERT_GE(cells, 1);
  for (std::size_t cell = 0; cell < cells; ++cell) {  // each leads to the same page as the last
    damaged.replace(page + number(page + 12 + 2 * cell, 2), 4, damaged.substr(page + 8, 4));
  }
  std::ofstream{path, std::ios::binary} << damaged;
  EXPECT_THAT(load_error<StoreError>(), HasSubstr("is damaged"));
}

}  // namespace
}  // namespace dutiful
