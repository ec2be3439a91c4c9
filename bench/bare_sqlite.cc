#include "bare_sqlite.h"

#include <array>
#include <memory>
#include <stdexcept>

#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include "figures.h"
#include "store/sqlite/sqlite_store.h"

namespace dutiful::bench {
namespace {

void check(int code) {
  if (code != SQLITE_OK && code != SQLITE_ROW && code != SQLITE_DONE) {
    throw std::runtime_error(sqlite3_errstr(code));
  }
}

struct Close {
  void operator()(sqlite3* database) const { sqlite3_close_v2(database); }
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Connection = std::unique_ptr<sqlite3, Close>;
using Query = std::unique_ptr<sqlite3_stmt, Close>;

Connection connect(const std::string& path) {
  sqlite3* handle = nullptr;
  check(
      sqlite3_open_v2(path.c_str(), &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nullptr));
  Connection connection{handle};
  check(sqlite3_exec(handle, "PRAGMA synchronous = FULL", nullptr, nullptr, nullptr));
  return connection;
}

Query prepare(const Connection& connection, const char* sql) {
  sqlite3_stmt* handle = nullptr;
  check(sqlite3_prepare_v3(connection.get(), sql, -1, SQLITE_PREPARE_PERSISTENT, &handle, nullptr));
  return Query{handle};
}

void execute(const Connection& connection, const char* sql) {
  check(sqlite3_exec(connection.get(), sql, nullptr, nullptr, nullptr));
}

void run(const Query& query) {
  check(sqlite3_step(query.get()));
  check(sqlite3_reset(query.get()));
}

void bind_text(const Query& query, int parameter, const std::string& text) {
  check(sqlite3_bind_text64(
      query.get(), parameter, text.data(), text.size(), SQLITE_STATIC, SQLITE_UTF8));
}

// The row of an idle task in `progress`, from the third parameter on.
void bind_progress(const Query& query, int first, std::int64_t instant) {
  for (int i = 0; i < 4; ++i) check(sqlite3_bind_int64(query.get(), first + i, 1));
  for (int i = 4; i < 9; ++i) check(sqlite3_bind_int64(query.get(), first + i, instant));
  for (int i = 9; i < 11; ++i) check(sqlite3_bind_null(query.get(), first + i));
  for (int i = 11; i < 14; ++i) check(sqlite3_bind_int64(query.get(), first + i, 1));
  check(sqlite3_bind_null(query.get(), first + 14));
}

}  // namespace

double bare_insert(const std::string& path, const std::vector<TaskConfig>& sorted) {
  return seconds_of([&] {
    (void)open_sqlite_store(path)->replace({}, "bare");  // creates the tables and scheduler 1
    const Connection connection = connect(path);
    const Query task = prepare(connection, "INSERT INTO task VALUES (?, ?, ?, ?)");
    const Query progress =
        prepare(connection,
                "INSERT INTO progress VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,"
                " NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)");  // its account has not begun
    execute(connection, "BEGIN IMMEDIATE");
    std::int64_t row = 0;
    for (const TaskConfig& config : sorted) {
      ++row;
      check(sqlite3_bind_int64(task.get(), 1, row));
      bind_text(task, 2, config.name);
      bind_text(task, 3, config.cron);
      check(sqlite3_bind_int64(task.get(), 4, config.retry_delay.count()));
      run(task);
      check(sqlite3_bind_int64(progress.get(), 1, row));
      check(sqlite3_bind_int64(progress.get(), 2, 1));
      // A new task has two instants.
      for (const int i : {3, 4, 5, 6, 14, 15, 16}) check(sqlite3_bind_int64(progress.get(), i, 0));
      for (int i = 7; i < 14; ++i) check(sqlite3_bind_null(progress.get(), i));
      for (int i = 8; i < 10; ++i) {
        check(sqlite3_bind_int64(progress.get(), i, begin.time_since_epoch().count()));
      }
      run(progress);
    }
    execute(connection, "COMMIT");
  });
}

double bare_scan(const std::string& path) {
  std::int64_t sum = 0;
  const double seconds = seconds_of([&] {
    const Connection connection = connect(path);
    const Query query =
        prepare(connection,
                "SELECT * FROM task JOIN progress ON progress.task = task.id"
                " JOIN scheduler ON scheduler.id = progress.scheduler ORDER BY task.id");
    const int columns = sqlite3_column_count(query.get());
    while (sqlite3_step(query.get()) == SQLITE_ROW) {
      for (int i = 0; i < columns; ++i) {
        if (sqlite3_column_type(query.get(), i) == SQLITE_TEXT) {
          sum += *sqlite3_column_text(query.get(), i);
        } else {
          sum += sqlite3_column_int64(query.get(), i);
        }
      }
    }
  });
  if (sum == 0) throw std::runtime_error("the state is empty");
  return seconds;
}

double bare_updates(const std::string& path, std::size_t rows, std::size_t together) {
  const Connection connection = connect(path);
  const Query update =
      prepare(connection,
              "UPDATE progress SET scheduler = ?2, state = ?3, boot_pending = ?4,"
              " orphan_pending = ?5, attempt = ?6, pulse = ?7, first_coming = ?8,"
              " served_until = ?9, last_attempt = ?10, last_success = ?11,"
              " last_failure = ?12, pending_retry_until = ?13, retries = ?14,"
              " fence = ?15, recurrence = ?16, recurs_until = ?17 WHERE task = ?1");
  return seconds_of([&] {
    for (int pass = 0; pass < 2; ++pass) {
      for (std::size_t row = 0; row < rows; ++row) {
        if (row % together == 0) execute(connection, "BEGIN IMMEDIATE");
        check(sqlite3_bind_int64(update.get(), 1, static_cast<std::int64_t>(row + 1)));
        check(sqlite3_bind_int64(update.get(), 2, 1));
        bind_progress(update, 3, begin.time_since_epoch().count() + pass);
        run(update);
        if (row % together == together - 1 || row + 1 == rows) execute(connection, "COMMIT");
      }
    }
  });
}

SyncedFile::SyncedFile(const std::string& path)
    : descriptor_(open(path.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600)) {
  if (descriptor_ < 0) throw std::runtime_error("cannot open " + path);
}

SyncedFile::~SyncedFile() {
  close(descriptor_);
}

void SyncedFile::write() const {
  const std::array<char, 4096> page{};
  if (::write(descriptor_, page.data(), page.size()) < 0 || fdatasync(descriptor_) != 0) {
    throw std::runtime_error("cannot write a file");
  }
}

double bare_fdatasync(const std::string& path) {
  constexpr int times = 200;
  const SyncedFile file{path};
  return seconds_of([&] {
           for (int i = 0; i < times; ++i) file.write();
         }) /
         times;
}

}  // namespace dutiful::bench
