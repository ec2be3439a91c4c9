#include "daemon/history_reader.h"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <utility>

#include "daemon/history_error.h"
#include "daemon/history_rows.h"
#include "store/sqlite/statement.h"
#include "text/characters.h"

namespace dutiful {
namespace {

std::string condition_of(RunResult result) {
  switch (result) {
    case RunResult::succeeded:
      return std::string{"NOT "} + unsuccessful_sql;
    case RunResult::failed:
      return std::string{unsuccessful_sql} + " AND NOT " + interrupted_sql;
    case RunResult::interrupted:
      return std::string{unsuccessful_sql} + " AND " + interrupted_sql;
  }
  return "";
}

// For summary_of().
std::string select_summary_sql() {
  return std::string{"SELECT id, task, duration_ms, "} + unsuccessful_sql + ", " + interrupted_sql +
         " FROM run";
}

// How many runs that ended too early a reader passes before it looks up where the last one is that
// did not. That costs as much as there are runs since, but the pages before the last need it not.
constexpr std::size_t passed_max = 1000;

std::string condition_of(const RunQuery& query) {
  std::string sql;
  if (query.result) sql += " AND " + condition_of(*query.result);
  if (query.unsuccessful) sql += std::string{" AND "} + unsuccessful_sql;
  return sql;
}

// The runs of a history or of one task, newest first.
class RunsOf {
 public:
  RunsOf(const Database& database,
         const std::string& select,
         const std::string& condition,
         const std::optional<std::string>& task)
      : database_(database),
        sql_(select + " WHERE id < ?1" + (task ? " AND task = ?2" : "") + condition +
             " ORDER BY id DESC"),
        task_(task) {}

  // Continues with the newest run before that id.
  void begin(std::int64_t before) {
    row_.emplace(database_, sql_);
    row_->bind(0, before);
    if (task_) row_->bind(1, *task_);
  }
  bool step() { return row_->step(); }
  [[nodiscard]] const Statement& row() const { return *row_; }

 private:
  const Database& database_;
  std::string sql_;
  const std::optional<std::string>& task_;
  std::optional<Statement> row_;
};

// The runs of several tasks, newest first. Looks only at runs of these tasks, and needs memory for
// one of each.
class RunsOfMany {
 public:
  RunsOfMany(const Database& database,
             const std::string& select,
             const std::string& condition,
             std::vector<std::string> names)
      : names_(std::move(names)),
        newest_(database,
                "SELECT id FROM run WHERE task = ?1 AND id < ?2" + condition +
                    " ORDER BY id DESC LIMIT 1"),
        row_(database, select + " WHERE id = ?1") {}

  void begin(std::int64_t before) {
    finish_row();
    next_.clear();
    for (std::size_t name = 0; name < names_.size(); ++name) add(name, before);
  }
  bool step() {
    finish_row();
    if (next_.empty()) return false;
    std::ranges::pop_heap(next_);
    const auto [id, name] = next_.back();
    next_.pop_back();
    add(name, id);
    row_.bind(0, id);
    is_at_row_ = row_.step();
    return is_at_row_;
  }
  [[nodiscard]] const Statement& row() const { return row_; }

 private:
  // The newest run of the task before that id.
  void add(std::size_t name, std::int64_t before) {
    newest_.bind(0, names_[name]);
    newest_.bind(1, before);
    if (!newest_.step()) return;
    next_.emplace_back(newest_.integer(0), name);
    std::ranges::push_heap(next_);
    (void)newest_.step();  // to its end
  }
  void finish_row() {
    if (std::exchange(is_at_row_, false)) (void)row_.step();  // to its end
  }

  std::vector<std::string> names_;
  Statement newest_;
  Statement row_;
  bool is_at_row_ = false;
  std::vector<std::pair<std::int64_t, std::size_t>> next_;  // a heap: id, index of the name
};

// SQLite counts in signed numbers.
std::int64_t sql_limit(std::size_t limit) {
  constexpr auto most = static_cast<std::size_t>(std::numeric_limits<std::int64_t>::max());
  return static_cast<std::int64_t>(std::min(limit, most));
}

}  // namespace

const char* name_of(RunResult result) noexcept {
  switch (result) {
    case RunResult::succeeded:
      return "succeeded";
    case RunResult::failed:
      return "failed";
    case RunResult::interrupted:
      return "interrupted";
  }
  return "";
}

bool matches(const HistoryEntry& entry, const RunQuery& query) {
  using End = HistoryEntry::End;
  const CommandResult& result = entry.result;
  if (query.task && result.run.task != *query.task) return false;
  const bool is_success = entry.end == End::recorded && result.succeeded();
  if (query.unsuccessful && (is_success || entry.end == End::none)) return false;
  if (query.result == RunResult::succeeded && !is_success) return false;
  if (query.result == RunResult::failed && (is_success || entry.end != End::recorded)) return false;
  if (query.result == RunResult::interrupted && entry.end != End::interrupted) return false;
  if (!contains_in_any_case(result.run.task, query.search)) return false;
  if (query.until && (entry.end == End::none || ended_of(entry) >= *query.until)) return false;
  return !query.since || entry.end == End::none || ended_of(entry) >= *query.since;
}

HistoryReader::HistoryReader(const std::string& state) : path_(history_of(state)) {
  std::error_code error;
  if (!std::filesystem::exists(path_, error)) return;
  translate_history_errors(path_, [&] {
    if (std::filesystem::is_symlink(path_, error)) {
      throw DatabaseError(path_, "is a symbolic link, which is not followed; remove it");
    }
    database_.emplace(path_, Database::Access::read_only);
    version_ = database_->check_format(history_format);
    if (version_ == 0) database_.reset();  // it is being created
  });
}

RunPage HistoryReader::read(const RunQuery& query) const {
  RunPage page;
  if (!database_) return page;
  return translated([&] {
    const Snapshot snapshot{*database_};
    const std::int64_t before = query.before.value_or(std::numeric_limits<std::int64_t>::max());
    const std::string select = select_run_sql(version_, query.with_output);
    const std::string condition = condition_of(query);
    if (query.search.empty()) {
      add_page(query, before, RunsOf{*database_, select, condition, query.task}, page);
    } else {
      auto names = names_with(query.search);
      if (query.task) std::erase_if(names, [&](const auto& name) { return name != *query.task; });
      add_page(query, before, RunsOfMany{*database_, select, condition, std::move(names)}, page);
    }
    return page;
  });
}

template <typename Rows>
void HistoryReader::add_page(const RunQuery& query,
                             std::int64_t before,
                             Rows rows,
                             RunPage& page) const {
  rows.begin(before);
  std::size_t too_early = 0;
  std::size_t too_late = 0;
  std::int64_t first = std::numeric_limits<std::int64_t>::min();
  while (rows.step()) {
    const Statement& row = rows.row();
    // Ids and ends are almost, but not quite, in the same order.
    if (query.since && end_of_row(row) < milliseconds(*query.since)) {
      if (++too_early == passed_max) first = first_since(query);
      if (id_of_row(row) < first) break;
      continue;
    }
    if (query.until && end_of_row(row) >= milliseconds(*query.until)) {
      if (++too_late % passed_max != 0) continue;
      const std::int64_t next = last_until(query, id_of_row(row));
      if (next == 0) break;
      rows.begin(next + 1);
      continue;
    }
    if (page.runs.size() == query.limit) {
      // Without room for a run, the next page begins where this one does.
      page.next = page.runs.empty() ? query.before : std::optional{page.runs.back().id};
      break;
    }
    page.runs.push_back(read_run_row(path_, row));
  }
}

std::vector<std::string> HistoryReader::names_with(std::string_view text) const {
  std::vector<std::string> names;
  // One search for each task: DISTINCT would read the whole index.
  Statement next{*database_, "SELECT min(task) FROM run WHERE task > ?1"};
  for (std::string task;;) {
    next.bind(0, task);
    // Anything but a text was written by another program, and might be found again and again.
    if (!next.step() || !next.is_text(0)) return names;
    task = next.text(0);
    (void)next.step();  // to its end
    if (contains_in_any_case(task, text)) names.push_back(task);
  }
}

std::int64_t HistoryReader::first_since(const RunQuery& query) const {
  // Without the plus, SQLite would walk through the table until it finds one.
  std::string sql = "SELECT min(+id) FROM run WHERE started + duration_ms >= ?1";
  if (query.task) sql += " AND task = ?2";
  Statement row{*database_, sql};
  row.bind(0, milliseconds(*query.since));
  if (query.task) row.bind(1, *query.task);
  const bool is_any = row.step() && !row.is_null(0);
  return is_any ? row.integer(0) : std::numeric_limits<std::int64_t>::max();
}

std::int64_t HistoryReader::last_until(const RunQuery& query, std::int64_t before) const {
  // The pluses: as above.
  std::string sql =
      "SELECT max(+id) FROM run WHERE started + duration_ms < ?1"
      " AND started + duration_ms >= ?2 AND +id < ?3";
  if (query.task) sql += " AND task = ?4";
  Statement row{*database_, sql};
  row.bind(0, milliseconds(*query.until));
  row.bind(1, query.since ? milliseconds(*query.since) : std::numeric_limits<std::int64_t>::min());
  row.bind(2, before);
  if (query.task) row.bind(3, *query.task);
  return row.step() && !row.is_null(0) ? row.integer(0) : 0;
}

std::optional<HistoryEntry> HistoryReader::find(std::int64_t id) const {
  if (!database_) return std::nullopt;
  return translated([&]() -> std::optional<HistoryEntry> {
    Statement row{*database_, select_run_sql(version_) + " WHERE id = ?1"};
    row.bind(0, id);
    if (!row.step()) return std::nullopt;
    return read_run_row(path_, row);
  });
}

std::vector<LastRuns> HistoryReader::read_last(const std::vector<std::string>& tasks) const {
  std::vector<LastRuns> last(tasks.size());
  if (!database_) return last;
  return translated([&] {
    const Snapshot snapshot{*database_};
    const std::string of_task = select_run_sql(version_) + " WHERE task = ?1";
    const std::string newest = " ORDER BY id DESC LIMIT 1";
    Statement any{*database_, of_task + newest};
    Statement unsuccessful{*database_, of_task + " AND " + unsuccessful_sql + newest};
    const auto read = [&](Statement& row, const std::string& task, auto& found) {
      row.bind(0, task);
      while (row.step()) found = read_run_row(path_, row);
    };
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      read(any, tasks[i], last[i].any);
      if (last[i].any) read(unsuccessful, tasks[i], last[i].unsuccessful);
    }
    return last;
  });
}

std::vector<HistoryEntry> HistoryReader::read_after(std::int64_t id, std::size_t limit) const {
  if (!database_) return {};
  return translated([&] {
    Statement row{*database_, select_run_sql(version_) + " WHERE id > ?1 ORDER BY id LIMIT ?2"};
    row.bind(0, id);
    row.bind(1, sql_limit(limit));
    return rows_of(row);
  });
}

RunSummary HistoryReader::summary_of(const Statement& row) const {
  if (!row.is_text(1)) throw HistoryError::damaged(path_, "the task of a run is not text");
  if (!row.is_integer(2) || row.integer(2) < 0) {
    throw HistoryError::damaged(path_, "the duration_ms of a run is not a duration");
  }
  return {.id = row.integer(0),
          .task = row.text(1),
          .result = row.integer(3) == 0   ? RunResult::succeeded
                    : row.integer(4) == 0 ? RunResult::failed
                                          : RunResult::interrupted,
          .duration = Duration{row.integer(2)}};
}

std::vector<RunSummary> HistoryReader::read_summaries_after(std::int64_t id,
                                                            std::size_t limit) const {
  if (!database_) return {};
  return translated([&] {
    Statement row{*database_, select_summary_sql() + " WHERE id > ?1 ORDER BY id LIMIT ?2"};
    row.bind(0, id);
    row.bind(1, sql_limit(limit));
    std::vector<RunSummary> runs;
    while (row.step()) runs.push_back(summary_of(row));
    return runs;
  });
}

std::vector<RunSummary> HistoryReader::read_newest_summaries(const Newest& wanted) const {
  if (!database_) return {};
  return translated([&] {
    const Snapshot snapshot{*database_};
    Statement next{*database_, "SELECT min(task) FROM run WHERE task > ?1"};
    // By end, because that index has everything that is read.
    Statement row{*database_,
                  select_summary_sql() +
                      " WHERE task = ?1 AND id <= ?2 ORDER BY started + duration_ms DESC LIMIT ?3"};
    std::vector<RunSummary> runs;
    std::string task = wanted.after;
    for (std::size_t i = 0; i < wanted.tasks; ++i) {
      next.bind(0, task);
      if (!next.step() || !next.is_text(0)) break;
      task = next.text(0);
      (void)next.step();  // to its end
      row.bind(0, task);
      row.bind(1, wanted.until);
      row.bind(2, sql_limit(wanted.runs));
      const auto begin = static_cast<std::ptrdiff_t>(runs.size());
      while (row.step()) runs.push_back(summary_of(row));
      std::ranges::sort(runs.begin() + begin, runs.end(), {}, &RunSummary::id);
    }
    return runs;
  });
}

std::int64_t HistoryReader::newest_id() const {
  if (!database_) return 0;
  return translated([&] { return database_->integer("SELECT max(id) FROM run"); });
}

std::vector<std::vector<RunSpan>> HistoryReader::read_spans(const SpanQuery& query) const {
  std::vector<std::vector<RunSpan>> spans(query.tasks.size());
  if (!database_) return spans;
  return translated([&] {
    const Snapshot snapshot{*database_};
    // The first run that ends after the window is the last one that may begin in it.
    Statement last{*database_,
                   "SELECT started + duration_ms FROM run"
                   " WHERE task = ?1 AND started + duration_ms >= ?2"
                   " ORDER BY started + duration_ms LIMIT 1"};
    Statement row{*database_,
                  select_span_sql() +
                      " WHERE task = ?1 AND started + duration_ms >= ?2"
                      " AND started + duration_ms <= ?3 AND started < ?4"
                      " ORDER BY started + duration_ms DESC LIMIT ?5"};
    for (std::size_t i = 0; i < query.tasks.size(); ++i) {
      std::int64_t end = std::numeric_limits<std::int64_t>::max();
      last.bind(0, query.tasks[i]);
      last.bind(1, milliseconds(query.until));
      while (last.step()) end = last.integer(0);
      row.bind(0, query.tasks[i]);
      row.bind(1, milliseconds(query.from));
      row.bind(2, end);
      row.bind(3, milliseconds(query.until));
      row.bind(4, sql_limit(query.limit));
      while (row.step()) spans[i].push_back(read_span_row(path_, row));
      std::ranges::reverse(spans[i]);
    }
    return spans;
  });
}

std::vector<Uptime> HistoryReader::read_uptimes() const {
  std::vector<Uptime> uptimes;
  if (!database_ || version_ < 3) return uptimes;
  return translated([&] {
    Statement row{*database_, select_uptime_sql() + " ORDER BY id DESC LIMIT 10000"};
    while (row.step()) uptimes.push_back(read_uptime_row(path_, row));
    std::ranges::reverse(uptimes);
    return uptimes;
  });
}

std::vector<HistoryEntry> HistoryReader::rows_of(Statement& statement) const {
  std::vector<HistoryEntry> entries;
  while (statement.step()) entries.push_back(read_run_row(path_, statement));
  return entries;
}

RunPage read_runs(const std::string& state, const RunQuery& query) {
  return HistoryReader{state}.read(query);
}

std::optional<HistoryEntry> read_run(const std::string& state, std::int64_t id) {
  return HistoryReader{state}.find(id);
}

}  // namespace dutiful
