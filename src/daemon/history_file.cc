#include "daemon/history_file.h"

#include <array>
#include <filesystem>
#include <limits>
#include <string_view>

#include <fcntl.h>

#include "daemon/history_error.h"
#include "files/private_file.h"

namespace dutiful {
namespace {

constexpr const char* schema = R"(
  CREATE TABLE run (
    id INTEGER PRIMARY KEY,
    task TEXT NOT NULL,
    reason TEXT NOT NULL,
    pulse INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    scheduled INTEGER,
    started INTEGER NOT NULL,
    duration_ms INTEGER NOT NULL,
    exit_status INTEGER,
    signal INTEGER,
    spawn_error TEXT NOT NULL,
    past_time_limit INTEGER NOT NULL,
    forced INTEGER NOT NULL,
    user_ms INTEGER NOT NULL,
    system_ms INTEGER NOT NULL,
    memory_max INTEGER NOT NULL,
    output BLOB NOT NULL,
    output_total INTEGER NOT NULL
  );
  CREATE INDEX run_of_task ON run (task, id);
)";

// "duth".
constexpr std::array steps{schema};
constexpr Database::Format format{.mark = 0x64757468,
                                  .steps = steps,
                                  .foreign = "is not a history of dutiful; move it away",
                                  .remedy = "move it away"};

std::int64_t milliseconds(Instant instant) {
  return instant.time_since_epoch().count();
}

void bind_optional(Statement& statement, int parameter, std::optional<std::int64_t> value) {
  if (value) {
    statement.bind(parameter, *value);
  } else {
    statement.bind_null(parameter);
  }
}

// The reason as the file has it: empty if it is unknown.
std::string_view written_reason(const HistoryEntry& entry) {
  return entry.reason_known ? name_of(entry.result.run.reason) : "";
}
void set_reason(HistoryEntry& entry, std::string_view name) {
  entry.reason_known = false;
  for (const Reason reason : {Reason::cron, Reason::retry, Reason::orphan, Reason::boot}) {
    if (name != name_of(reason)) continue;
    entry.result.run.reason = reason;
    entry.reason_known = true;
  }
}

// The columns in the order of read_entry().
constexpr std::array columns{"task",
                             "reason",
                             "pulse",
                             "attempt",
                             "scheduled",
                             "started",
                             "duration_ms",
                             "exit_status",
                             "signal",
                             "spawn_error",
                             "past_time_limit",
                             "forced",
                             "user_ms",
                             "system_ms",
                             "memory_max",
                             "output",
                             "output_total"};

// A row as dutiful writes it. Any other value was written by another program and is rejected,
// because no code that uses it expects it: a duration of -2^63 ms cannot even be negated (X4).
class Row {
 public:
  Row(const std::string& path, const Statement& row) : path_(path), row_(row) {}

  [[nodiscard]] std::string text(int column) const {
    if (!row_.is_text(column)) reject(column, "not text");
    return row_.text(column);
  }
  [[nodiscard]] std::string bytes(int column) const {
    if (row_.type_name(column) != "blob") reject(column, "not a blob");
    return row_.text(column);
  }
  [[nodiscard]] std::int64_t integer(int column, std::int64_t least, std::int64_t most) const {
    if (!row_.is_integer(column)) reject(column, "not a number");
    const std::int64_t value = row_.integer(column);
    if (value < least || value > most) reject(column, std::to_string(value));
    return value;
  }
  [[nodiscard]] std::optional<int> optional_byte(int column) const {
    if (row_.is_null(column)) return std::nullopt;
    return static_cast<int>(integer(column, 0, 255));
  }
  [[nodiscard]] std::int64_t size(int column) const {
    return integer(column, 0, std::numeric_limits<std::int64_t>::max());
  }
  [[nodiscard]] bool flag(int column) const { return integer(column, 0, 1) != 0; }
  [[nodiscard]] Duration duration(int column) const { return Duration{size(column)}; }
  [[nodiscard]] Instant instant(int column) const {
    constexpr Instant first = std::chrono::sys_days{year_min / 1 / 1};
    constexpr Instant last =
        std::chrono::sys_days{year_max / 12 / 31} + std::chrono::days{1} - Duration{1};
    return Instant{Duration{integer(column, milliseconds(first), milliseconds(last))}};
  }
  [[nodiscard]] std::optional<Instant> optional_instant(int column) const {
    return row_.is_null(column) ? std::nullopt : std::optional{instant(column)};
  }

 private:
  [[noreturn]] void reject(int column, const std::string& value) const {
    throw HistoryError::damaged(path_,
                                std::string{"the "} + columns.at(static_cast<std::size_t>(column)) +
                                    " of a run is " + value);
  }

  const std::string& path_;
  const Statement& row_;
};

HistoryEntry read_entry(const Row& row) {
  HistoryEntry entry;
  CommandResult& result = entry.result;
  result.run.task = row.text(0);
  set_reason(entry, row.text(1));
  result.run.pulse = row.instant(2);
  result.run.attempt =
      static_cast<std::uint32_t>(row.integer(3, 0, std::numeric_limits<std::uint32_t>::max()));
  entry.scheduled = row.optional_instant(4);
  result.run.started = row.instant(5);
  result.duration = row.duration(6);
  result.exit_status = row.optional_byte(7);
  result.signal = row.optional_byte(8);
  result.spawn_error = row.text(9);
  result.past_time_limit = row.flag(10);
  result.forced = row.flag(11);
  result.user_time = row.duration(12);
  result.system_time = row.duration(13);
  result.memory_max = row.size(14);
  result.output = row.bytes(15);
  result.output_total = static_cast<std::uint64_t>(row.size(16));
  // A run with a recorded end has an exit status, a signal, or could not be started.
  if (!result.exit_status && !result.signal && result.spawn_error.empty()) {
    entry.end = HistoryEntry::End::interrupted;
  }
  return entry;
}

// The output of commands may be confidential. SQLite gives its own files the same mode.
const std::string& make_private(const std::string& path) {
  (void)open_or_make_private(path, O_RDWR);  // if it cannot be opened, SQLite says why
  for (const char* suffix : {"-wal", "-shm", "-journal"}) {
    check_private(path + suffix, Demand::ours_alone);
  }
  return path;
}

}  // namespace

HistoryFile::HistoryFile(const std::string& path)
    : identity_(identity_of(make_private(path))), database_(path) {
  const std::int64_t version = database_.check_format(format);
  // Readers do not wait for the writer. A power cut may lose the last runs, but not the state,
  // which is in another file.
  database_.execute("PRAGMA journal_mode = WAL");
  database_.execute("PRAGMA synchronous = NORMAL");
  database_.migrate(format, version);
  insert_.emplace(
      database_,
      "INSERT INTO run VALUES (NULL, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14,"
      " ?15, ?16, ?17)");
  trim_.emplace(database_,
                "DELETE FROM run WHERE task = ?1 AND id <="
                " (SELECT id FROM run WHERE task = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?2)");
}

bool HistoryFile::is_there() const {
  return identity_of(database_.path()) == identity_;
}

void HistoryFile::abandon() noexcept {
  database_.shrink_log();
}

void HistoryFile::write(const std::list<HistoryEntry>& entries, std::size_t runs_max) {
  Transaction transaction{database_};
  std::set<std::string_view> tasks;
  for (const HistoryEntry& entry : entries) {
    // The previous daemon, killed before it restarted the run, may have written it.
    if (entry.end == HistoryEntry::End::interrupted && has(entry)) continue;
    insert(entry);
    tasks.insert(entry.result.run.task);
  }
  for (const std::string_view task : tasks) {
    trim_->bind(0, task);
    trim_->bind(1, static_cast<std::int64_t>(runs_max));
    trim_->run();
  }
  transaction.commit();
}

void HistoryFile::prune_removed(const std::set<std::string, std::less<>>& tasks, Instant before) {
  std::vector<std::string> known;
  Statement row{database_, "SELECT DISTINCT task FROM run"};
  while (row.step()) known.push_back(row.text(0));
  Statement prune{database_, "DELETE FROM run WHERE task = ?1 AND started < ?2"};
  Transaction transaction{database_};
  for (const std::string& task : known) {
    if (tasks.contains(task)) continue;
    prune.bind(0, task);
    prune.bind(1, milliseconds(before));
    prune.run();
  }
  transaction.commit();
}

bool HistoryFile::has(const HistoryEntry& entry) const {
  const RunInfo& run = entry.result.run;
  Statement row{database_, "SELECT 1 FROM run WHERE task = ?1 AND started = ?2 AND attempt = ?3"};
  row.bind(0, run.task);
  row.bind(1, milliseconds(run.started));
  row.bind(2, std::int64_t{run.attempt});
  return row.step();
}

void HistoryFile::insert(const HistoryEntry& entry) {
  const CommandResult& result = entry.result;
  insert_->bind(0, result.run.task);
  insert_->bind(1, written_reason(entry));
  insert_->bind(2, milliseconds(result.run.pulse));
  insert_->bind(3, std::int64_t{result.run.attempt});
  bind_optional(
      *insert_, 4, entry.scheduled ? std::optional{milliseconds(*entry.scheduled)} : std::nullopt);
  insert_->bind(5, milliseconds(result.run.started));
  insert_->bind(6, result.duration.count());
  bind_optional(*insert_, 7, result.exit_status);
  bind_optional(*insert_, 8, result.signal);
  insert_->bind(9, result.spawn_error);
  insert_->bind(10, std::int64_t{result.past_time_limit ? 1 : 0});
  insert_->bind(11, std::int64_t{result.forced ? 1 : 0});
  insert_->bind(12, result.user_time.count());
  insert_->bind(13, result.system_time.count());
  insert_->bind(14, result.memory_max);
  insert_->bind_bytes(15, result.output.empty() ? std::string_view{""} : result.output);
  insert_->bind(16, static_cast<std::int64_t>(result.output_total));
  insert_->run();
}

std::vector<HistoryEntry> read_history_file(const std::string& path,
                                            const std::optional<std::string>& task,
                                            std::size_t count) {
  std::vector<HistoryEntry> entries;
  if (std::error_code error; std::filesystem::is_symlink(path, error)) {
    throw DatabaseError(path, "is a symbolic link, which is not followed; remove it");
  }
  const Database database{path, Database::Access::read_only};
  if (database.check_format(format) == 0) return entries;
  std::string sql = "SELECT ";
  for (const char* column : columns)
    sql.append(column).append(column == columns.back() ? " " : ", ");
  sql += task ? "FROM run WHERE task = ?2 ORDER BY id DESC LIMIT ?1"
              : "FROM run ORDER BY id DESC LIMIT ?1";
  Statement row{database, sql};
  row.bind(0, static_cast<std::int64_t>(count));
  if (task) row.bind(1, *task);
  while (row.step()) entries.push_back(read_entry({path, row}));
  return entries;
}

}  // namespace dutiful
