#include "store/sqlite/task_rows.h"

#include <algorithm>
#include <limits>
#include <utility>

#include <dutiful/errors.h>
#include <dutiful/limits.h>

#include "store/check_progress.h"
#include "store/sqlite/database.h"

namespace dutiful {
namespace {

// Selects the records from a row on. Reads a state of an earlier version as if it were of the
// newest. `cron` is "NULL" if the expression is too long to be read.
std::string select_records(const char* cron, std::int64_t version) {
  return std::string{"SELECT task.id, name, "} + cron + R"(, retry_delay_ms, progress.task,
         scheduler, state, boot_pending, orphan_pending, attempt, pulse, first_coming, served_until, last_attempt,
         last_success, last_failure, pending_retry_until, )" +
         (version == 1 ? "max(attempt - 1, 0), min(attempt, 1), 0, NULL"
                       : "retries, fence, recurrence, recurs_until") +
         (version <= 2 ? ", NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0"
                       : ", account_from, account_number, pulses_run, pulses_running, pulses_down, "
                         "pulses_asleep, pulses_limit, pulses_store, pulses_retry, pulses_orphan, "
                         "pulses_recurred") +
         R"( FROM task LEFT JOIN progress ON progress.task = task.id
         WHERE task.id >= ?1 ORDER BY task.id)";
}

// No registered name or expression is longer (RULES E), and no identifier is.
constexpr std::size_t text_size_max = std::max(task_name_max, cron_text_max);

std::string update_sql(const char* account) {
  return std::string{R"(
      UPDATE progress SET scheduler = ?16, state = ?1, boot_pending = ?2, orphan_pending = ?3,
        attempt = ?4, pulse = ?5, first_coming = ?6, served_until = ?7, last_attempt = ?8,
        last_success = ?9, last_failure = ?10, pending_retry_until = ?11, retries = ?12,
        fence = ?13, recurrence = ?14, recurs_until = ?15)"} +
         account + " WHERE task = ?17";
}

[[noreturn]] void refuse_as_too_long(const char* field, const std::string& task = {}) {
  throw TaskInvalidValueError(
      field, "", "it is longer than " + std::to_string(text_size_max) + " bytes", task);
}

// So far below the largest number that no state ever reaches it.
constexpr std::int64_t fence_max = std::int64_t{1} << 62U;

// The number of fields of a progress, and of an account.
constexpr int progress_columns = 15;
constexpr int account_columns = 11;

void bind_instant(Statement& statement, int parameter, Instant instant) {
  if (instant == no_instant) {
    statement.bind_null(parameter);
  } else {
    statement.bind(parameter, instant.time_since_epoch().count());
  }
}

// Reads the columns of a row from left to right and checks their values (RULES P7).
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

// So far below the largest number that sums of sums do not overflow.
constexpr std::int64_t pulses_max = std::int64_t{1} << 48U;

void read_sums(RowReader& reader, Account& account) {
  PulseFates::for_each(account.fates, [&](const char* /*name*/, std::int64_t& pulses) {
    pulses = reader.integer_between("pulses", 0, pulses_max);
  });
  account.recurred = reader.integer_between("pulses", 0, pulses_max);
}

Account read_account(RowReader& reader) {
  Account account;
  account.from = reader.optional_instant("accountFrom");
  if (account.from != no_instant) check_instant(account.from, "accountFrom", reader.task());
  account.number = reader.integer_between("accountNumber", 0, pulses_max);
  read_sums(reader, account);
  return account;
}

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
  // A damaged configuration differs from any registered one, so the registration overrides it (P7).
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
  record.account = read_account(reader);
  return record;
}

// An upper bound for the number of records. Counting them would mean reading them.
std::size_t records_expected(const Database& database) {
  constexpr std::int64_t record_size_min = 64;
  const std::int64_t bytes =
      (database.integer("PRAGMA page_count") - database.integer("PRAGMA freelist_count")) *
      database.integer("PRAGMA page_size");
  const std::int64_t last = database.integer("SELECT max(id) FROM task");
  return static_cast<std::size_t>(
      std::max(std::int64_t{0}, std::min(last, bytes / record_size_min)));
}

// Reads the first record from a row on. One of its values is too long for SQLite's limit.
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

}  // namespace

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

void bind_account(Statement& statement, int parameter, const Account& account) {
  bind_instant(statement, parameter++, account.from);
  statement.bind(parameter++, account.number);
  PulseFates::for_each(account.fates, [&](const char* /*name*/, std::int64_t pulses) {
    statement.bind(parameter++, pulses);
  });
  statement.bind(parameter++, account.recurred);
}

ProgressUpdate::ProgressUpdate(const Database& database)
    : database_(&database),
      update_(database, update_sql("")),
      update_with_account_(database, update_sql(R"(, account_from = ?18, account_number = ?19,
        pulses_run = ?20, pulses_running = ?21, pulses_down = ?22, pulses_asleep = ?23,
        pulses_limit = ?24, pulses_store = ?25, pulses_retry = ?26, pulses_orphan = ?27,
        pulses_recurred = ?28)")) {}

bool ProgressUpdate::run(std::int64_t row,
                         const TaskProgress& progress,
                         std::int64_t scheduler,
                         const Account* account) {
  Statement& update = account == nullptr ? update_ : update_with_account_;
  bind_progress(update, 0, progress);
  update.bind(progress_columns, scheduler);
  update.bind(progress_columns + 1, row);
  if (account != nullptr) bind_account(update, progress_columns + 2, *account);
  update.run();
  return database_->changes() == 1;
}

StretchInsert::StretchInsert(const Database& database)
    : insert_(database,
              "INSERT OR REPLACE INTO account VALUES"
              " (?1, ?3, ?2, ?13, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)"),
      forget_(database, "DELETE FROM account WHERE task = ? AND number = ?") {}

void StretchInsert::run(std::int64_t row, const AccountStretch& stretch) {
  insert_.bind(0, row);
  bind_account(insert_, 1, stretch.sums);
  insert_.bind(1 + account_columns, stretch.until.time_since_epoch().count());
  insert_.run();
  if (stretch.sums.number < stretches_kept) return;
  forget_.bind(0, row);
  forget_.bind(1, stretch.sums.number - stretches_kept);
  forget_.run();
}

void read_stretches(const Database& database,
                    std::int64_t version,
                    std::optional<std::int64_t> row,
                    const VisitStretch& visit) {
  if (version <= 2) return;
  Statement select{database,
                   std::string{"SELECT task, begins, number, pulses_run, pulses_running, "
                               "pulses_down, pulses_asleep, pulses_limit, pulses_store, "
                               "pulses_retry, pulses_orphan, pulses_recurred, ends FROM account"} +
                       (row ? " WHERE task = ?1" : "") + " ORDER BY task, number"};
  if (row) select.bind(0, *row);
  const std::string no_task;
  std::optional<std::pair<std::int64_t, std::int64_t>> previous;
  while (select.step()) {
    RowReader reader{select, 0, no_task};
    const std::int64_t task = reader.integer("task");
    AccountStretch stretch;
    stretch.sums = read_account(reader);
    stretch.until = Instant{Duration{reader.integer("ends")}};
    check_instant(stretch.sums.from, "begins", no_task);
    check_instant(stretch.until, "ends", no_task);
    // The pages of a damaged file may form a cycle.
    const std::pair place{task, stretch.sums.number};
    if (previous && place <= *previous) database.refuse_as_damaged();
    previous = place;
    visit(task, stretch);
  }
}

Schedulers::Schedulers(const Database& database)
    : select_(database, "SELECT identifier FROM scheduler WHERE id = ?") {}

const std::string& Schedulers::identifier(std::int64_t number, const std::string& task) {
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
  (void)select_.step();  // ends the statement, so that it can run again
  return identifiers_.emplace(number, std::move(identifier)).first->second;
}

std::set<std::int64_t> Schedulers::numbers() const {
  std::set<std::int64_t> numbers;
  for (const auto& [number, identifier] : identifiers_) numbers.insert(number);
  return numbers;
}

std::vector<TaskRecord> read_records(const Database& database,
                                     Schedulers& schedulers,
                                     std::int64_t version) {
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
    // The pages of a damaged file may form a cycle.
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

}  // namespace dutiful
