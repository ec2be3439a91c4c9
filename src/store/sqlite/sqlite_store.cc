#include "store/sqlite/sqlite_store.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include <dutiful/errors.h>
#include <dutiful/limits.h>

#include "store/check_progress.h"
#include "store/sqlite/database.h"
#include "store/sqlite/ownership.h"
#include "store/sqlite/state_file.h"

namespace dutiful {
namespace {

// Version 1. Texts are apart from what changes with every run, so that a run rewrites few bytes.
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

// Version 1 did not tell retries from restarts after a crash: they count as retries, as it said.
// Its runs had no fence; any number will do that is smaller than those to come.
// The fence of a scheduler is the newest that any run had when it took its list.
constexpr const char* from_version_1 = R"(
  ALTER TABLE scheduler ADD COLUMN fence INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE progress ADD COLUMN retries INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE progress ADD COLUMN fence INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE progress ADD COLUMN recurrence INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE progress ADD COLUMN recurs_until INTEGER;
  UPDATE progress SET retries = max(attempt - 1, 0), fence = min(attempt, 1) WHERE attempt > 0;
)";

constexpr std::array steps{schema, from_version_1};
constexpr Database::Format format{.mark = state_mark,
                                  .steps = steps,
                                  .foreign = "is a database of another program; use another file",
                                  .remedy = "use that version or another file"};

// From a row on, of a state of that version as if it were of the newest. The expression is left out
// where it is too long to be read.
std::string select_records(const char* cron, std::int64_t version) {
  return std::string{"SELECT task.id, name, "} + cron + R"(, retry_delay_ms, progress.task,
         scheduler, state, boot_pending, orphan_pending, attempt, pulse, first_coming, served_until, last_attempt,
         last_success, last_failure, pending_retry_until, )" +
         (version == 1 ? "max(attempt - 1, 0), min(attempt, 1), 0, NULL"
                       : "retries, fence, recurrence, recurs_until") +
         R"( FROM task LEFT JOIN progress ON progress.task = task.id
         WHERE task.id >= ?1 ORDER BY task.id)";
}

// No name or expression that is registered is longer (RULES E), and no identifier.
constexpr std::size_t text_size_max = std::max(task_name_max, cron_text_max);

[[noreturn]] void refuse_as_too_long(const char* field, const std::string& task = {}) {
  throw TaskInvalidValueError(
      field, "", "it is longer than " + std::to_string(text_size_max) + " bytes", task);
}

// So far from the end of the numbers that no state gets there.
constexpr std::int64_t fence_max = std::int64_t{1} << 62U;

// The fields of a progress in the schema.
constexpr int progress_columns = 15;

void bind_instant(Statement& statement, int parameter, Instant instant) {
  if (instant == no_instant) {
    statement.bind_null(parameter);
  } else {
    statement.bind(parameter, instant.time_since_epoch().count());
  }
}

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
    bind_instant(statement, parameter++, instant);
  }
  statement.bind(parameter++, std::int64_t{progress.retries});
  statement.bind(parameter++, static_cast<std::int64_t>(progress.fence));
  statement.bind(parameter++, static_cast<std::int64_t>(progress.recurrence));
  bind_instant(statement, parameter++, progress.recurs_until);
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
  progress.retries =
      static_cast<std::uint32_t>(reader.integer_between("retryCount", 0, 0xffffffff));
  progress.fence = static_cast<std::uint64_t>(reader.integer_between("fence", 0, fence_max));
  progress.recurrence =
      static_cast<std::uint64_t>(reader.integer_between("recurrence", 0, fence_max));
  progress.recurs_until = reader.optional_instant("recursUntil");
  check_progress(progress, reader.task());
  return progress;
}

// The schedulers that records name, by their numbers: few, and each is read once.
class Schedulers {
 public:
  explicit Schedulers(const Database& database)
      : select_(database, "SELECT identifier FROM scheduler WHERE id = ?") {}

  const std::string& identifier(std::int64_t number, const std::string& task) {
    const auto known = identifiers_.find(number);
    if (known != identifiers_.end()) return known->second;
    select_.bind(0, number);
    if (!select_.step()) throw TaskMissingFieldError("schedulerIdentifier", task);
    if (!select_.is_text(0)) {
      throw TaskInvalidTypeError(
          "schedulerIdentifier", select_.text(0), "text", select_.type_name(0), task);
    }
    if (select_.size(0) > text_size_max) refuse_as_too_long("schedulerIdentifier", task);
    std::string identifier = select_.text(0);
    (void)select_.step();  // to its end
    return identifiers_.emplace(number, std::move(identifier)).first->second;
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
  if (row.size(1) > text_size_max) refuse_as_too_long("name");
  record.config.name = row.text(1);
  if (record.config.name.empty()) throw TaskInvalidValueError("name", "", "is empty");
  // A damaged configuration is not the one that is registered, whatever that is: the
  // registration overrides it (P7).
  if (row.is_text(2) && row.size(2) <= text_size_max && row.is_integer(3)) {
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

// As many records as there may be. To count them would be to read them.
std::size_t records_expected(const Database& database) {
  constexpr std::int64_t record_size_min = 64;
  const std::int64_t bytes =
      (database.integer("PRAGMA page_count") - database.integer("PRAGMA freelist_count")) *
      database.integer("PRAGMA page_size");
  const std::int64_t last = database.integer("SELECT max(id) FROM task");
  return static_cast<std::size_t>(
      std::max(std::int64_t{0}, std::min(last, bytes / record_size_min)));
}

// The first record from a row on, of which something is too long to be read.
TaskRecord read_long_record(const Database& database,
                            Schedulers& schedulers,
                            std::int64_t version,
                            std::int64_t row) {
  const auto first = [&](const std::string& select) {
    Statement statement{database, select};
    statement.bind(0, row);
    (void)statement.step();
    return statement;
  };
  try {
    (void)first("SELECT name FROM task WHERE id >= ?1 ORDER BY id");
  } catch (const DatabaseError& error) {
    if (error.kind() == DatabaseError::Kind::too_long) refuse_as_too_long("name");
    throw;
  }
  return read_record(first(select_records("NULL", version)), schedulers);
}

std::vector<TaskRecord> read_records(const Database& database,
                                     Schedulers& schedulers,
                                     std::int64_t version = format.version()) {
  const Snapshot snapshot{database};
  std::vector<TaskRecord> records;
  records.reserve(records_expected(database));
  using Row = std::numeric_limits<std::int64_t>;
  const auto after_last = [&] {
    return records.empty() ? Row::min() : std::min(records.back().row, Row::max() - 1) + 1;
  };
  Statement row{database, select_records("cron", version)};
  row.bind(0, after_last());
  while (true) {
    const std::int64_t next = after_last();
    try {
      if (!row.step()) return records;
      records.push_back(read_record(row, schedulers));
    } catch (const DatabaseError& error) {
      if (error.kind() != DatabaseError::Kind::too_long) throw;
      records.push_back(read_long_record(database, schedulers, version, next));
      row.bind(0, after_last());
    }
    // Pages of a damaged file may lead to each other, for ever.
    if (records.back().row < next) database.refuse_as_damaged();
  }
}

std::uint64_t read_fence(const Database& database) {
  Statement newest{database, "SELECT fence FROM scheduler ORDER BY fence DESC LIMIT 1"};
  if (!newest.step()) return 0;
  const std::string no_task;
  RowReader reader{newest, 0, no_task};
  return static_cast<std::uint64_t>(reader.integer_between("fence", 0, fence_max));
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
    ownership_.check();
    ownership_.make_private();
    choose_durability();
    database_.migrate(format, version);
    ownership_.check();
    prepare();
  }

  StoredState load() override {
    if (!update_) reconnect();
    Schedulers schedulers{database_};
    StoredState stored{read_records(database_, schedulers), read_fence(database_)};
    named_ = schedulers.numbers();
    return stored;
  }

  std::vector<std::int64_t> replace(const Plan& plan, const std::string& scheduler) override {
    be_ready();
    std::string identifier = scheduler;
    Transaction transaction{database_};
    const std::int64_t writer = add_scheduler(scheduler, plan.fence);
    remove(plan.removed);
    auto rows = write_tasks(plan, writer);
    auto named = std::exchange(named_, std::nullopt);  // unless this succeeds, not known any more
    forget_schedulers(writer, named);
    transaction.commit();
    // It has happened: from here on nothing may fail.
    failures_ = 0;
    ownership_.confirm();
    if (plan.tasks.size() > log_kept_max) database_.shrink_log();
    writer_ = writer;
    scheduler_ = std::move(identifier);
    named_ = std::move(named);
    return rows;
  }

  void commit(std::span<const RowUpdate> updates) override {
    be_ready();
    Transaction transaction{database_};
    for (const RowUpdate& update : updates) write_progress(update.row, update.progress, writer_);
    transaction.commit();
    failures_ = 0;
  }

 private:
  // Every commit reaches the disk before it returns; readers go on while there is a writer.
  void choose_durability() {
    database_.execute("PRAGMA journal_mode = WAL");
    database_.execute("PRAGMA synchronous = FULL");
  }

  void prepare() {
    update_.emplace(database_, R"(
      UPDATE progress SET scheduler = ?16, state = ?1, boot_pending = ?2, orphan_pending = ?3,
        attempt = ?4, pulse = ?5, first_coming = ?6, served_until = ?7, last_attempt = ?8,
        last_success = ?9, last_failure = ?10, pending_retry_until = ?11, retries = ?12,
        fence = ?13, recurrence = ?14, recurs_until = ?15
      WHERE task = ?17)");
  }

  // Comes before every transaction, which counts as failed until it has succeeded.
  void be_ready() {
    ownership_.check();
    if (failures_ >= failures_max) reconnect();
    ++failures_;
  }

  // A lock that could not be released, as a network file system may refuse it, leaves SQLite with
  // locks that it neither uses nor lets go of: the connection fails for ever, and another one
  // works. The state stays held meanwhile (RULES P6): Ownership's locks are on descriptors of its
  // own.
  void reconnect() {
    ownership_.forget_log();
    update_.reset();
    database_.reopen();
    if (database_.check_format(format) != format.version()) database_.refuse_as_damaged();
    choose_durability();
    ownership_.check();
    // A list that was in doubt may have turned out to have replaced the one that runs.
    if (std::string newest = newest_scheduler(); !scheduler_.empty() && newest != scheduler_) {
      throw TaskListMismatchError(scheduler_, std::move(newest));
    }
    prepare();
  }

  std::int64_t add_scheduler(const std::string& identifier, std::uint64_t fence) {
    Statement insert{database_, "INSERT INTO scheduler (identifier, fence) VALUES (?, ?)"};
    insert.bind(0, identifier);
    insert.bind(1, static_cast<std::int64_t>(fence));
    insert.run();
    return database_.integer("SELECT last_insert_rowid()");
  }

  // Only schedulers that a record still names are kept: as far as is known from the last look,
  // which is worth another one, at every record, only when there are many.
  void forget_schedulers(std::int64_t writer, std::optional<std::set<std::int64_t>>& known) {
    if (!known || known->size() > named_max) {
      known.emplace();
      Statement named{database_, "SELECT DISTINCT scheduler FROM progress"};
      while (named.step()) known->insert(named.integer(0));
    }
    known->insert(writer);
    std::vector<std::int64_t> unnamed;
    Statement all{database_, "SELECT id FROM scheduler"};
    while (all.step()) {
      if (!known->contains(all.integer(0))) unnamed.push_back(all.integer(0));
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
        "INSERT INTO progress VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14,"
        " ?15, ?16, ?17)"};

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
    update_->bind(progress_columns, writer);
    update_->bind(progress_columns + 1, row);
    update_->run();
    if (database_.changes() != 1) throw TaskListMismatchError(scheduler_, newest_scheduler());
  }

  // Who wrote the tasks that are there now; empty where nobody is left who could have.
  [[nodiscard]] std::string newest_scheduler() const {
    Statement newest{database_, "SELECT identifier FROM scheduler ORDER BY id DESC LIMIT 1"};
    return newest.step() ? newest.text(0) : "";
  }

  // So many in a row, and each further try has a new connection.
  static constexpr int failures_max = 3;

  static constexpr std::size_t named_max = 64;

  // A list longer than that may have left a log that would burden the next to write, and stop().
  static constexpr std::size_t log_kept_max = 10'000;

  Ownership ownership_;
  Database database_;
  std::optional<std::set<std::int64_t>> named_;  // schedulers that a record may name; once known
  std::optional<Statement> update_;              // none where there is no connection
  std::int64_t writer_ = 0;
  std::string scheduler_;  // the identifier of `writer_`
  int failures_ = 0;       // transactions that failed since one succeeded
};

}  // namespace

std::unique_ptr<Store> open_sqlite_store(const std::string& path, Duration busy_timeout) {
  // One state has one lock, by whatever links it is reached.
  return std::make_unique<SqliteStore>(resolve_state(path), busy_timeout);
}

std::vector<TaskRecord> read_sqlite_state(const std::string& path) {
  const Database database{path, Database::Access::read_only};
  const std::int64_t version = database.check_format(format);
  if (version == 0) return {};
  Schedulers schedulers{database};
  return read_records(database, schedulers, version);
}

void check_sqlite_state(const std::string& path) {
  (void)Database{path, Database::Access::read_only}.check_format(format);
}

}  // namespace dutiful
