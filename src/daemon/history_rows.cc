#include "daemon/history_rows.h"

#include <array>
#include <limits>
#include <string_view>

#include "daemon/history_error.h"
#include "time/clock_range.h"

namespace dutiful {
namespace {

constexpr const char* version_1 = R"(
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

// The newest run of all is never deleted, so the number of a run is never used again.
//
// A task may have ten thousand runs, and there may be as many tasks. With these indexes neither
// the writer, which prunes the runs of a task whenever it adds one, nor a reader looks at more runs
// than it deletes or shows.
constexpr const char* version_2 = R"(
  ALTER TABLE run ADD COLUMN process INTEGER;
  CREATE INDEX run_by_end ON run (started + duration_ms);
  CREATE INDEX run_of_task_by_end ON run (task, started + duration_ms);
  CREATE INDEX run_with_output ON run (task, id) WHERE length(output) > 0;
  CREATE INDEX unsuccessful_run ON run (id)
    WHERE (exit_status IS NOT 0 OR past_time_limit <> 0 OR forced <> 0);
  CREATE INDEX unsuccessful_run_of_task ON run (task, id)
    WHERE (exit_status IS NOT 0 OR past_time_limit <> 0 OR forced <> 0);
)";

// A timeline of 500 tasks with a run each minute shows 720,000 runs of a day. The index has all
// that it shows of them, so their rows are not read.
constexpr const char* version_3 = R"(
  CREATE TABLE uptime (
    id INTEGER PRIMARY KEY,
    started INTEGER NOT NULL,
    seen INTEGER NOT NULL
  );
  DROP INDEX run_of_task_by_end;
  CREATE INDEX run_of_task_by_end ON run (task, started + duration_ms, started, duration_ms,
    exit_status, signal, spawn_error, past_time_limit, forced);
)";

constexpr std::array steps{version_1, version_2, version_3};

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

// The columns after the id, in the order of the table.
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
                             "output_total",
                             "process"};

constexpr int id_column = columns.size();
constexpr int end_column = id_column + 1;

const char* name_of_column(int column) {
  return column == id_column ? "id" : columns.at(static_cast<std::size_t>(column));
}

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
  [[nodiscard]] std::optional<pid_t> optional_process(int column) const {
    if (row_.is_null(column)) return std::nullopt;
    return static_cast<pid_t>(integer(column, 1, std::numeric_limits<pid_t>::max()));
  }
  [[nodiscard]] std::int64_t size(int column) const {
    return integer(column, 0, std::numeric_limits<std::int64_t>::max());
  }
  [[nodiscard]] bool flag(int column) const { return integer(column, 0, 1) != 0; }
  [[nodiscard]] Duration duration(int column) const { return Duration{size(column)}; }
  [[nodiscard]] Instant instant(int column) const {
    return Instant{Duration{integer(column, milliseconds(clock_begin), milliseconds(clock_end))}};
  }
  [[nodiscard]] std::optional<Instant> optional_instant(int column) const {
    return row_.is_null(column) ? std::nullopt : std::optional{instant(column)};
  }

 private:
  [[noreturn]] void reject(int column, const std::string& value) const {
    throw HistoryError::damaged(
        path_, std::string{"the "} + name_of_column(column) + " of a run is " + value);
  }

  const std::string& path_;
  const Statement& row_;
};

HistoryEntry read_entry(const Row& row) {
  HistoryEntry entry{.id = row.size(id_column)};
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
  result.process = row.optional_process(17);
  // A run with a recorded end has an exit status, a signal, or could not be started.
  if (!result.exit_status && !result.signal && result.spawn_error.empty()) {
    entry.end = HistoryEntry::End::interrupted;
  }
  return entry;
}

// For rows of which only a few columns are read.
Instant read_instant(const std::string& path, const Statement& row, int column, const char* name) {
  const std::int64_t value = row.is_integer(column) ? row.integer(column) : 0;
  if (!row.is_integer(column) || value < milliseconds(clock_begin) ||
      value > milliseconds(clock_end)) {
    throw HistoryError::damaged(path, std::string{"a "} + name + " is no instant");
  }
  return Instant{Duration{value}};
}

}  // namespace

// "duth".
const Database::Format history_format{.mark = 0x64757468,
                                      .steps = steps,
                                      .foreign = "is not a history of dutiful; move it away",
                                      .remedy = "move it away"};

void bind_run(Statement& insert, const HistoryEntry& entry) {
  const CommandResult& result = entry.result;
  insert.bind(0, result.run.task);
  insert.bind(1, written_reason(entry));
  insert.bind(2, milliseconds(result.run.pulse));
  insert.bind(3, std::int64_t{result.run.attempt});
  bind_optional(
      insert, 4, entry.scheduled ? std::optional{milliseconds(*entry.scheduled)} : std::nullopt);
  insert.bind(5, milliseconds(result.run.started));
  insert.bind(6, result.duration.count());
  bind_optional(insert, 7, result.exit_status);
  bind_optional(insert, 8, result.signal);
  insert.bind(9, result.spawn_error);
  insert.bind(10, std::int64_t{result.past_time_limit ? 1 : 0});
  insert.bind(11, std::int64_t{result.forced ? 1 : 0});
  insert.bind(12, result.user_time.count());
  insert.bind(13, result.system_time.count());
  insert.bind(14, result.memory_max);
  insert.bind_bytes(15, result.output.empty() ? std::string_view{""} : result.output);
  insert.bind(16, static_cast<std::int64_t>(result.output_total));
  bind_optional(insert, 17, result.process);
}

std::string insert_run_sql() {
  std::string sql = "INSERT INTO run VALUES (NULL";
  for (std::size_t i = 1; i <= columns.size(); ++i) sql += ", ?" + std::to_string(i);
  return sql + ')';
}

namespace {

// The error of a run is made from the last line of its output.
std::string end_of_output_sql() {
  // Of an empty blob, substr() is NULL.
  return std::string{"CASE WHEN "} + unsuccessful_sql +
         " THEN ifnull(substr(output, -4096), x'') ELSE x'' END";
}

}  // namespace

std::string select_run_sql(std::int64_t version, bool with_output) {
  std::string sql = "SELECT ";
  for (const std::string_view column : columns) {
    const bool is_missing = version < 2 && column == "process";
    const bool is_unwanted = !with_output && column == "output";
    sql += is_missing ? "NULL" : is_unwanted ? end_of_output_sql() : std::string{column};
    sql += ", ";
  }
  return sql + "id, started + duration_ms FROM run";
}

std::int64_t id_of_row(const Statement& row) {
  return row.integer(id_column);
}

std::int64_t end_of_row(const Statement& row) {
  return row.integer(end_column);
}

HistoryEntry read_run_row(const std::string& path, const Statement& row) {
  return read_entry({path, row});
}

std::string select_span_sql() {
  return std::string{"SELECT started, duration_ms, CASE WHEN NOT "} + unsuccessful_sql +
         " THEN 0 WHEN " + interrupted_sql + " THEN 1 ELSE 2 END FROM run";
}

RunSpan read_span_row(const std::string& path, const Statement& row) {
  // In the order of the numbers above.
  constexpr std::array results{
      RunSpan::Result::succeeded, RunSpan::Result::interrupted, RunSpan::Result::failed};
  const Instant from = read_instant(path, row, 0, "started");
  const std::int64_t duration = row.is_integer(1) ? row.integer(1) : -1;
  if (duration < 0 || duration > (clock_end - from).count()) {
    throw HistoryError::damaged(path, "the duration_ms of a run is impossible");
  }
  RunSpan span{.from = from,
               .until = from + Duration{duration},
               .result = results.at(static_cast<std::size_t>(row.integer(2)))};
  if (span.result == RunSpan::Result::interrupted) span.until = from;
  return span;
}

std::string select_uptime_sql() {
  return "SELECT started, seen FROM uptime";
}

Uptime read_uptime_row(const std::string& path, const Statement& row) {
  const Uptime uptime{.started = read_instant(path, row, 0, "started"),
                      .seen = read_instant(path, row, 1, "seen")};
  if (uptime.started > uptime.seen) {
    throw HistoryError::damaged(path, "a daemon ended before it started");
  }
  return uptime;
}

}  // namespace dutiful
