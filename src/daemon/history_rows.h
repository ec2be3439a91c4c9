// The table of the history, for its writer and its readers.
#pragma once

#include <cstdint>
#include <string>

#include <dutiful/time.h>

#include "daemon/history_entry.h"
#include "daemon/run_span.h"
#include "daemon/uptime.h"
#include "store/sqlite/database.h"
#include "store/sqlite/statement.h"

namespace dutiful {

extern const Database::Format history_format;

[[nodiscard]] inline std::int64_t milliseconds(Instant instant) {
  return instant.time_since_epoch().count();
}

// When the run ended. The end of an interrupted run is unknown: this is its start then.
[[nodiscard]] inline Instant ended_of(const HistoryEntry& entry) {
  return entry.result.run.started + entry.result.duration;
}

// "failed or interrupted", as the indexes spell it: only with the same words does SQLite use them.
constexpr const char* unsuccessful_sql =
    "(exit_status IS NOT 0 OR past_time_limit <> 0 OR forced <> 0)";
// "interrupted", of those.
constexpr const char* interrupted_sql =
    "(exit_status IS NULL AND signal IS NULL AND spawn_error = '')";

// Binds the columns of a run, in the order of the table, to the parameters from the first one on.
void bind_run(Statement& insert, const HistoryEntry& entry);
// "INSERT INTO run …", for bind_run().
[[nodiscard]] std::string insert_run_sql();

// "SELECT … FROM run", for the functions below, for a file of that version. Without their output,
// pages of runs are small, however much output is kept: only the end of it is read, and only of
// runs that did not succeed, because their error is made from it.
[[nodiscard]] std::string select_run_sql(std::int64_t version, bool with_output = true);
// The id and the end of the row that the statement is at, whatever they are, without the rest.
[[nodiscard]] std::int64_t id_of_row(const Statement& row);
[[nodiscard]] std::int64_t end_of_row(const Statement& row);
// The row that the statement is at. Throws HistoryError if it cannot be one that dutiful wrote.
[[nodiscard]] HistoryEntry read_run_row(const std::string& path, const Statement& row);

// "SELECT … FROM run" and "SELECT … FROM uptime", which begins with version 3, and their rows.
// Throw as above.
[[nodiscard]] std::string select_span_sql();
[[nodiscard]] RunSpan read_span_row(const std::string& path, const Statement& row);
[[nodiscard]] std::string select_uptime_sql();
[[nodiscard]] Uptime read_uptime_row(const std::string& path, const Statement& row);

}  // namespace dutiful
