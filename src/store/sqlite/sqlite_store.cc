#include "store/sqlite/sqlite_store.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>

#include <dutiful/errors.h>

#include "store/check_progress.h"
#include "store/sqlite/database.h"
#include "store/sqlite/ownership.h"
#include "store/sqlite/state_file.h"

namespace dutiful {
namespace {

// "duti", and the version of the schema below. A step to a newer one goes into migrate().
constexpr Database::Format format{.mark = 0x64757469,
                                  .version = 1,
                                  .foreign = "is a database of another program; use another file",
                                  .remedy = "use that version or another file"};

// Texts are apart from what changes with every run, so that a run rewrites few bytes.
constexpr const char* schema = R"(
  CREATE TABLE scheduler (
    id INTEGER PRIMARY KEY,
    identifier TEXT NOT NULL UNIQUE
  );
  CREATE TABLE task (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    cron TEXT NOT NULL,
    retry_delay_ms INTEGER NOT NULL
  );
  CREATE TABLE progress (
    task INTEGER PRIMARY KEY REFERENCES task (id),
    scheduler INTEGER NOT NULL REFERENCES scheduler (id),
    state INTEGER NOT NULL,
    boot_pending INTEGER NOT NULL,
    orphan_pending INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    pulse INTEGER,
    first_coming INTEGER,
    served_until INTEGER,
    last_attempt INTEGER,
    last_success INTEGER,
    last_failure INTEGER,
    pending_retry_until INTEGER
  );
)";

constexpr const char* select_all = R"(
  SELECT task.id, name, cron, retry_delay_ms, progress.task,
         scheduler, state, boot_pending, orphan_pending,
         attempt, pulse, first_coming, served_until, last_attempt, last_success, last_failure,
         pending_retry_until
  FROM task LEFT JOIN progress ON progress.task = task.id
  ORDER BY task.id)";

// Binds the fields of a progress, and reads them, in the order of the schema.
void bind_progress(Statement& statement, int parameter, const TaskProgress& progress) {
  statement.bind(parameter++, static_cast<std::int64_t>(progress.state));
  statement.bind(parameter++, std::int64_t{progress.boot_pending ? 1 : 0});
  statement.bind(parameter++, std::int64_t{progress.orphan_pending ? 1 : 0});
  statement.bind(parameter++, std::int64_t{progress.attempt});
  for (const Instant instant : {progress.pulse,
                                progress.first_coming,
                                progress.served_until,
                                progress.last_attempt,
                                progress.last_success,
                                progress.last_failure,
                                progress.retry_at}) {
    if (instant == no_instant) {
      statement.bind_null(parameter++);
    } else {
      statement.bind(parameter++, instant.time_since_epoch().count());
    }
  }
}

// Reads the columns of a row from left to right, and checks what they hold (RULES P7).
class RowReader {
 public:
  RowReader(const Statement& row, int column, const std::string& task)
      : row_(row), column_(column), task_(task) {}

  [[nodiscard]] const std::string& task() const { return task_; }

  std::int64_t integer(const char* field) {
    if (!row_.is_integer(column_)) refuse(field);
    return row_.integer(column_++);
  }

  std::int64_t integer_between(const char* field, std::int64_t min, std::int64_t max) {
    const std::int64_t value = integer(field);
    if (value < min || value > max) {
      throw TaskInvalidValueError(field,
                                  std::to_string(value),
                                  std::to_string(value) + " is not between " + std::to_string(min) +
                                      " and " + std::to_string(max),
                                  task_);
    }
    return value;
  }

  Instant optional_instant(const char* field) {
    if (!row_.is_integer(column_) && row_.is_null(column_)) {
      ++column_;
      return no_instant;
    }
    return Instant{Duration{integer(field)}};
  }

 private:
  [[noreturn]] void refuse(const char* field) const {
    if (row_.is_null(column_)) throw TaskMissingFieldError(field, task_);
    throw TaskInvalidTypeError(
        field, row_.text(column_), "integer", row_.type_name(column_), task_);
  }

  const Statement& row_;
  int column_;
  const std::string& task_;
};

TaskProgress read_progress(RowReader& reader) {
  TaskProgress progress;
  progress.state = static_cast<TaskState>(reader.integer_between("state", 0, 2));
  progress.boot_pending = reader.integer_between("bootPending", 0, 1) != 0;
  progress.orphan_pending = reader.integer_between("orphanPending", 0, 1) != 0;
  progress.attempt = static_cast<std::uint32_t>(reader.integer_between("attempt", 0, 0xffffffff));
  progress.pulse = reader.optional_instant("pulse");
  progress.first_coming = reader.optional_instant("firstComing");
  progress.served_until = reader.optional_instant("servedUntil");
  progress.last_attempt = reader.optional_instant("lastAttemptAt");
  progress.last_success = reader.optional_instant("lastSuccessAt");
  progress.last_failure = reader.optional_instant("lastFailureAt");
  progress.retry_at = reader.optional_instant("pendingRetryUntil");
  check_progress(progress, reader.task());
  return progress;
}

// The schedulers that records name, by their numbers: few, and each is read once.
class Schedulers {
 public:
  explicit Schedulers(const Database& database)
      : select_(database, "SELECT identifier FROM scheduler WHERE id = ?") {}

  const std::string& identifier(std::int64_t number, const std::string& task) {
    const auto [known, is_new] = identifiers_.try_emplace(number);
    if (is_new) {
      select_.bind(0, number);
      if (!select_.step()) throw TaskMissingFieldError("schedulerIdentifier", task);
      if (!select_.is_text(0)) {
        throw TaskInvalidTypeError(
            "schedulerIdentifier", select_.text(0), "text", select_.type_name(0), task);
      }
      known->second = select_.text(0);
      (void)select_.step();  // to its end
    }
    return known->second;
  }

  [[nodiscard]] std::set<std::int64_t> numbers() const {
    std::set<std::int64_t> numbers;
    for (const auto& [number, identifier] : identifiers_) numbers.insert(number);
    return numbers;
  }

 private:
  Statement select_;
  std::map<std::int64_t, std::string> identifiers_;
};

TaskRecord read_record(const Statement& row, Schedulers& schedulers) {
  TaskRecord record;
  record.row = row.integer(0);
  if (!row.is_text(1)) {
    if (row.is_null(1)) throw TaskMissingFieldError("name");
    throw TaskInvalidTypeError("name", row.text(1), "text", row.type_name(1));
  }
  record.config.name = row.text(1);
  if (record.config.name.empty()) throw TaskInvalidValueError("name", "", "is empty");
  // A damaged configuration is not the one that is registered, whatever that is: the
  // registration overrides it (P7).
  if (row.is_text(2) && row.is_integer(3)) {
    record.config.cron = row.text(2);
    record.config.retry_delay = Duration{row.integer(3)};
  }
  if (row.is_null(4)) {
    throw TaskInvalidStructureError(
        "A task has no progress: its record is incomplete", record.config.name, record.config.name);
  }
  RowReader reader{row, 5, record.config.name};
  record.scheduler =
      schedulers.identifier(reader.integer("schedulerIdentifier"), record.config.name);
  record.progress = read_progress(reader);
  return record;
}

std::vector<TaskRecord> read_records(const Database& database, Schedulers& schedulers) {
  std::vector<TaskRecord> records;
  records.reserve(static_cast<std::size_t>(database.integer("SELECT count(*) FROM task")));
  Statement row{database, select_all};
  while (row.step()) records.push_back(read_record(row, schedulers));
  return records;
}

// What fails while one task is written is told with the task's name (RULES P4).
template <typename Work>
void schedule(const PlannedTask& task, Work work) {
  try {
    work();
  } catch (const Error& error) {
    throw ScheduleTaskError(
        task.config.name, task.config.cron, error.what(), std::current_exception());
  }
}

class SqliteStore : public Store {
 public:
  SqliteStore(const std::string& path, Duration busy_timeout)
      : ownership_(path), database_(path, Database::Access::read_write, busy_timeout) {
    const std::int64_t version = database_.check_format(format);
    // Every commit reaches the disk before it returns; readers go on while there is a writer.
    database_.execute("PRAGMA journal_mode = WAL");
    database_.execute("PRAGMA synchronous = FULL");
    migrate(version);
    ownership_.check();
    update_.emplace(database_, R"(
      UPDATE progress SET scheduler = ?12, state = ?1, boot_pending = ?2, orphan_pending = ?3,
        attempt = ?4, pulse = ?5, first_coming = ?6, served_until = ?7, last_attempt = ?8,
        last_success = ?9, last_failure = ?10, pending_retry_until = ?11
      WHERE task = ?13)");
  }

  std::vector<TaskRecord> load() override {
    Schedulers schedulers{database_};
    auto records = read_records(database_, schedulers);
    named_ = schedulers.numbers();
    return records;
  }

  std::vector<std::int64_t> replace(const Plan& plan, const std::string& scheduler) override {
    ownership_.check();
    Transaction transaction{database_};
    const std::int64_t writer = add_scheduler(scheduler);
    remove(plan.removed);
    auto rows = write_tasks(plan, writer);
    forget_schedulers(writer);
    transaction.commit();
    ownership_.confirm();
    if (plan.tasks.size() > log_kept_max) database_.shrink_log();
    writer_ = writer;
    scheduler_ = scheduler;
    return rows;
  }

  void commit(std::span<const RowUpdate> updates) override {
    ownership_.check();
    Transaction transaction{database_};
    for (const RowUpdate& update : updates) write_progress(update.row, update.progress, writer_);
    transaction.commit();
  }

 private:
  void migrate(std::int64_t version) {
    if (version == format.version) return;
    Transaction transaction{database_};
    database_.execute(schema);
    database_.set_format(format);
    transaction.commit();
  }

  std::int64_t add_scheduler(const std::string& identifier) {
    Statement insert{database_, "INSERT INTO scheduler (identifier) VALUES (?)"};
    insert.bind(0, identifier);
    insert.run();
    return database_.integer("SELECT last_insert_rowid()");
  }

  // Only schedulers that a record still names are kept: as far as is known from the last look,
  // which is worth another one, at every record, only when there are many.
  void forget_schedulers(std::int64_t writer) {
    if (!named_ || named_->size() > named_max) {
      named_.emplace();
      Statement named{database_, "SELECT DISTINCT scheduler FROM progress"};
      while (named.step()) named_->insert(named.integer(0));
    }
    named_->insert(writer);
    std::vector<std::int64_t> unnamed;
    Statement all{database_, "SELECT id FROM scheduler"};
    while (all.step()) {
      if (!named_->contains(all.integer(0))) unnamed.push_back(all.integer(0));
    }
    Statement forget{database_, "DELETE FROM scheduler WHERE id = ?"};
    for (const std::int64_t number : unnamed) {
      forget.bind(0, number);
      forget.run();
    }
  }

  void remove(const std::vector<TaskRecord>& removed) {
    Statement progress{database_, "DELETE FROM progress WHERE task = ?"};
    Statement task{database_, "DELETE FROM task WHERE id = ?"};
    for (const TaskRecord& record : removed) {
      progress.bind(0, record.row);
      progress.run();
      task.bind(0, record.row);
      task.run();
    }
  }

  std::vector<std::int64_t> write_tasks(const Plan& plan, std::int64_t writer) {
    Statement configure{database_, "UPDATE task SET cron = ?, retry_delay_ms = ? WHERE id = ?"};
    Statement insert{database_,
                     "INSERT INTO task (id, name, cron, retry_delay_ms) VALUES (?, ?, ?, ?)"};
    Statement insert_progress{
        database_,
        "INSERT INTO progress VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)"};

    // Tasks of one schedule run together: neighbours in the file are written together.
    std::vector<std::size_t> added;
    std::vector<std::int64_t> rows(plan.tasks.size());
    for (std::size_t i = 0; i < plan.tasks.size(); ++i) {
      const PlannedTask& task = plan.tasks[i];
      rows[i] = task.row;
      if (task.row == PlannedTask::no_row) {
        added.push_back(i);
        continue;
      }
      schedule(task, [&] {
        if (task.classification == Classification::overridden) {
          configure.bind(0, task.config.cron);
          configure.bind(1, task.config.retry_delay.count());
          configure.bind(2, task.row);
          configure.run();
        }
        if (task.changed) write_progress(task.row, task.progress, writer);
      });
    }
    std::unordered_map<std::string_view, std::size_t> groups;
    std::vector<std::size_t> group_of(plan.tasks.size());
    for (const std::size_t i : added) {
      group_of[i] = groups.try_emplace(plan.tasks[i].config.cron, groups.size()).first->second;
    }
    std::ranges::stable_sort(added, {}, [&](std::size_t i) { return group_of[i]; });
    std::int64_t row = database_.integer("SELECT coalesce(max(id), 0) FROM task");
    for (const std::size_t i : added) {
      const PlannedTask& task = plan.tasks[i];
      rows[i] = ++row;
      schedule(task, [&] {
        insert.bind(0, row);
        insert.bind(1, task.config.name);
        insert.bind(2, task.config.cron);
        insert.bind(3, task.config.retry_delay.count());
        insert.run();
        insert_progress.bind(0, row);
        insert_progress.bind(1, writer);
        bind_progress(insert_progress, 2, task.progress);
        insert_progress.run();
      });
    }
    return rows;
  }

  void write_progress(std::int64_t row, const TaskProgress& progress, std::int64_t writer) {
    bind_progress(*update_, 0, progress);
    update_->bind(11, writer);
    update_->bind(12, row);
    update_->run();
    if (database_.changes() != 1) throw TaskListMismatchError(scheduler_, newest_scheduler());
  }

  // Who wrote the tasks that are there now; empty where nobody is left who could have.
  [[nodiscard]] std::string newest_scheduler() const {
    Statement newest{database_, "SELECT identifier FROM scheduler ORDER BY id DESC LIMIT 1"};
    return newest.step() ? newest.text(0) : "";
  }

  static constexpr std::size_t named_max = 64;

  // A list longer than that may have left a log that would burden the next to write, and stop().
  static constexpr std::size_t log_kept_max = 10'000;

  Ownership ownership_;
  Database database_;
  std::optional<std::set<std::int64_t>> named_;  // schedulers that a record may name; once known
  std::optional<Statement> update_;
  std::int64_t writer_ = 0;
  std::string scheduler_;  // the identifier of `writer_`
};

}  // namespace

std::unique_ptr<Store> open_sqlite_store(const std::string& path, Duration busy_timeout) {
  // One state has one lock, by whatever links it is reached.
  return std::make_unique<SqliteStore>(resolve_state(path), busy_timeout);
}

std::vector<TaskRecord> read_sqlite_state(const std::string& path) {
  const Database database{path, Database::Access::read_only};
  if (database.check_format(format) == 0) return {};
  Schedulers schedulers{database};
  return read_records(database, schedulers);
}

void check_sqlite_state(const std::string& path) {
  (void)Database{path, Database::Access::read_only}.check_format(format);
}

}  // namespace dutiful
