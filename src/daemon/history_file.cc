#include "daemon/history_file.h"

#include <algorithm>
#include <map>
#include <string_view>

#include <fcntl.h>

#include "daemon/history_rows.h"
#include "files/private_file.h"

namespace dutiful {
namespace {

// How long uptimes are kept at least, and how many at most.
constexpr Duration uptime_age_min = std::chrono::days{30};
constexpr std::int64_t uptimes_max = 10'000;

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
  const std::int64_t version = database_.check_format(history_format);
  // Readers do not wait for the writer. A power cut may lose the last runs, but not the state,
  // which is in another file.
  database_.execute("PRAGMA journal_mode = WAL");
  database_.execute("PRAGMA synchronous = NORMAL");
  database_.migrate(history_format, version);
  insert_.emplace(database_, insert_run_sql());
  // ?2 is how many of the newest to keep. The unary plus makes SQLite search by the other column.
  trim_.emplace(database_,
                "DELETE FROM run WHERE task = ?1 AND id <="
                " (SELECT id FROM run WHERE task = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?2)"
                " AND id < (SELECT max(id) FROM run)");
  trim_old_.emplace(database_,
                    "DELETE FROM run WHERE task = ?1 AND started + duration_ms < ?3 AND +id <="
                    " (SELECT id FROM run WHERE task = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?2)"
                    " AND +id < (SELECT max(id) FROM run)");
  trim_output_.emplace(
      database_,
      "UPDATE run SET output = x'' WHERE length(output) > 0 AND task = ?1 AND id <="
      " (SELECT id FROM run WHERE task = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?2)");
  // It is the last row, unless the previous daemon wrote after it had released the state.
  extend_uptime_.emplace(database_,
                         "UPDATE uptime SET seen = max(seen, ?2) WHERE started = ?1"
                         " AND id > (SELECT max(id) FROM uptime) - 16");
}

bool HistoryFile::is_there() const {
  return identity_of(database_.path()) == identity_;
}

void HistoryFile::abandon() noexcept {
  database_.shrink_log();
}

void HistoryFile::write(const std::list<HistoryEntry>& entries,
                        std::span<const Uptime> uptimes,
                        const Retention& retention) {
  Transaction transaction{database_};
  std::map<std::string_view, Instant> latest;  // end of each task
  for (const HistoryEntry& entry : entries) {
    // The previous daemon, killed before it restarted the run, may have written it.
    if (entry.end == HistoryEntry::End::interrupted && has(entry)) continue;
    bind_run(*insert_, entry);
    insert_->run();
    Instant& end = latest.try_emplace(entry.result.run.task, Instant::min()).first->second;
    end = std::max(end, ended_of(entry));
  }
  for (const auto& [task, end] : latest) trim(task, end, retention);
  for (const Uptime& uptime : uptimes) record(uptime, retention);
  transaction.commit();
}

void HistoryFile::record(const Uptime& uptime, const Retention& retention) {
  extend_uptime_->bind(0, milliseconds(uptime.started));
  extend_uptime_->bind(1, milliseconds(uptime.seen));
  extend_uptime_->run();
  if (database_.changes() > 0) return;
  Statement insert{database_, "INSERT INTO uptime VALUES (NULL, ?1, ?2)"};
  insert.bind(0, milliseconds(uptime.started));
  insert.bind(1, milliseconds(uptime.seen));
  insert.run();
  Statement prune{database_,
                  "DELETE FROM uptime WHERE seen < ?1 OR id <= (SELECT max(id) FROM uptime) - ?2"};
  prune.bind(0, milliseconds(uptime.seen) - std::max(uptime_age_min, retention.age).count());
  prune.bind(1, uptimes_max);
  prune.run();
}

// A task is trimmed only when it has a new run, which says how late it is. No clock is read.
void HistoryFile::trim(std::string_view task, Instant now, const Retention& retention) {
  Statement& trim = retention.age > Duration::zero() ? *trim_old_ : *trim_;
  trim.bind(0, task);
  trim.bind(1, static_cast<std::int64_t>(retention.runs));
  if (retention.age > Duration::zero()) trim.bind(2, milliseconds(now) - retention.age.count());
  trim.run();
  trim_output_->bind(0, task);
  trim_output_->bind(1, static_cast<std::int64_t>(retention.output_runs));
  trim_output_->run();
}

void HistoryFile::prune_removed(const std::set<std::string, std::less<>>& tasks, Instant before) {
  // One search for each task: DISTINCT would read the whole index.
  Statement next{database_, "SELECT min(task) FROM run WHERE task > ?1"};
  Statement prune{database_,
                  "DELETE FROM run WHERE task = ?1 AND started < ?2"
                  " AND id < (SELECT max(id) FROM run)"};
  Transaction transaction{database_};
  for (std::string task;;) {
    next.bind(0, task);
    // Anything but a text was written by another program, and might be found again and again.
    if (!next.step() || !next.is_text(0)) break;
    task = next.text(0);
    (void)next.step();  // to its end
    if (tasks.contains(task)) continue;
    prune.bind(0, task);
    prune.bind(1, milliseconds(before));
    prune.run();
  }
  transaction.commit();
}

bool HistoryFile::has(const HistoryEntry& entry) const {
  const RunInfo& run = entry.result.run;
  // No run ends before it starts: the index leads to the few that ended since.
  Statement row{database_,
                "SELECT 1 FROM run WHERE task = ?1 AND started + duration_ms >= ?2"
                " AND started = ?2 AND attempt = ?3"};
  row.bind(0, run.task);
  row.bind(1, milliseconds(run.started));
  row.bind(2, std::int64_t{run.attempt});
  return row.step();
}

}  // namespace dutiful
