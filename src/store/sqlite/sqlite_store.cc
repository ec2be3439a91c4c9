#include "store/sqlite/sqlite_store.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include <dutiful/errors.h>

#include "store/sqlite/database.h"
#include "store/sqlite/ownership.h"
#include "store/sqlite/replace_list.h"
#include "store/sqlite/state_file.h"
#include "store/sqlite/state_format.h"
#include "store/sqlite/task_rows.h"

namespace dutiful {
namespace {

class SqliteStore : public Store {
 public:
  SqliteStore(const std::string& path, Duration busy_timeout)
      : ownership_(path), database_(path, Database::Access::read_write, busy_timeout) {
    const std::int64_t version = database_.check_format(state_format);
    ownership_.check();
    ownership_.make_private();
    choose_durability();
    database_.migrate(state_format, version);
    ownership_.check();
    prepare_statements();
  }

  StoredState load() override {
    if (!update_) reconnect();
    const Snapshot snapshot{database_};
    Schedulers schedulers{database_};
    StoredState stored{read_records(database_, schedulers, state_format.version()),
                       read_fence(database_)};
    named_ = schedulers.numbers();
    return stored;
  }

  std::vector<std::int64_t> replace(const Plan& plan, const std::string& scheduler) override {
    be_ready();
    std::string identifier = scheduler;
    Transaction transaction{database_};
    const std::int64_t writer = add_scheduler(database_, scheduler, plan.fence);
    remove_tasks(database_, plan.removed);
    auto rows = write_tasks(database_, plan, writer, [&](const PlannedTask& task) {
      write_progress(task.row, task.progress, writer, &task.account);
    });
    auto named = std::exchange(named_, std::nullopt);  // unknown unless this succeeds
    forget_schedulers(database_, writer, named);
    transaction.commit();
    // The change is durable, so nothing below may fail.
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
    for (const RowUpdate& update : updates) {
      write_progress(update.row, update.progress, writer_, update.account);
      for (const AccountStretch& closed : update.closed) insert_->run(update.row, closed);
    }
    transaction.commit();
    failures_ = 0;
  }

 private:
  // Every commit reaches the disk before it returns. Readers do not wait for the writer.
  void choose_durability() {
    database_.execute("PRAGMA journal_mode = WAL");
    database_.execute("PRAGMA synchronous = FULL");
  }

  void prepare_statements() {
    insert_.emplace(database_);
    update_.emplace(database_);
  }

  // Precedes every transaction, which counts as failed until it has succeeded.
  void be_ready() {
    ownership_.check();
    if (failures_ >= failures_max) reconnect();
    ++failures_;
  }

  // If a lock cannot be released, as a network file system may refuse it, SQLite keeps locks that
  // it neither uses nor releases: the connection fails for ever, but a new one works. The state
  // stays held meanwhile (RULES P6), because Ownership locks through descriptors of its own.
  void reconnect() {
    ownership_.forget_log();
    insert_.reset();
    update_.reset();
    database_.reopen();
    if (database_.check_format(state_format) != state_format.version()) {
      database_.refuse_as_damaged();
    }
    choose_durability();
    ownership_.check();
    // A list that was in doubt may have replaced the one that runs.
    if (std::string newest = newest_scheduler(); !scheduler_.empty() && newest != scheduler_) {
      throw TaskListMismatchError(scheduler_, std::move(newest));
    }
    prepare_statements();
  }

  void write_progress(std::int64_t row,
                      const TaskProgress& progress,
                      std::int64_t writer,
                      const Account* account) {
    if (!update_->run(row, progress, writer, account)) {
      throw TaskListMismatchError(scheduler_, newest_scheduler());
    }
  }

  // The identifier of the scheduler that wrote the current list; empty if the state names none.
  [[nodiscard]] std::string newest_scheduler() const {
    return database_.text("SELECT identifier FROM scheduler ORDER BY id DESC LIMIT 1");
  }

  // After this many failures in a row, each further try uses a new connection.
  static constexpr int failures_max = 3;

  // A longer list may leave a log that would slow down the next write, and stop().
  static constexpr std::size_t log_kept_max = 10'000;

  Ownership ownership_;
  Database database_;
  std::optional<std::set<std::int64_t>> named_;  // schedulers that a record may name, if known
  // Empty if there is no connection.
  std::optional<ProgressUpdate> update_;
  std::optional<StretchInsert> insert_;
  std::int64_t writer_ = 0;
  std::string scheduler_;  // the identifier of `writer_`
  int failures_ = 0;       // transactions that failed since one succeeded
};

}  // namespace

std::unique_ptr<Store> open_sqlite_store(const std::string& path, Duration busy_timeout) {
  // A state has one lock, whichever links lead to it.
  return std::make_unique<SqliteStore>(resolve_state(path), busy_timeout);
}

std::vector<TaskRecord> read_sqlite_state(const std::string& path) {
  const Database database{path, Database::Access::read_only};
  const std::int64_t version = database.check_format(state_format);
  if (version == 0) return {};
  const Snapshot snapshot{database};
  Schedulers schedulers{database};
  return read_records(database, schedulers, version);
}

void read_sqlite_accounts(const std::string& path,
                          const std::function<void(std::vector<TaskRecord>& records)>& choose,
                          const VisitAccount& visit) {
  const Database database{path, Database::Access::read_only};
  const std::int64_t version = database.check_format(state_format);
  if (version == 0) return;
  const Snapshot snapshot{database};
  Schedulers schedulers{database};
  auto records = read_records(database, schedulers, version);
  const std::size_t all = records.size();
  choose(records);
  std::vector<AccountStretch> ended;  // of one record
  if (records.size() < all) {
    for (const TaskRecord& record : records) {
      ended.clear();
      read_stretches(
          database, version, record.row, [&](std::int64_t, const AccountStretch& stretch) {
            ended.push_back(stretch);
          });
      visit(record, ended);
    }
    return;
  }
  // All of them in one go.
  std::ranges::sort(records, {}, &TaskRecord::row);
  auto next = records.cbegin();
  const auto visit_next = [&] {
    visit(*next++, ended);
    ended.clear();
  };
  read_stretches(
      database, version, std::nullopt, [&](std::int64_t row, const AccountStretch& stretch) {
        while (next != records.cend() && next->row < row) visit_next();
        if (next != records.cend() && next->row == row) ended.push_back(stretch);
      });
  while (next != records.cend()) visit_next();
}

void check_sqlite_state(const std::string& path) {
  (void)Database{path, Database::Access::read_only}.check_format(state_format);
}

}  // namespace dutiful
