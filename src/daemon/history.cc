#include "daemon/history.h"

#include <filesystem>
#include <memory>
#include <new>
#include <set>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "store/sqlite/database.h"
#include "store/sqlite/state_file.h"
#include "text/quote.h"

namespace dutiful {
namespace {

// "duth", and the version of the schema below.
constexpr Database::Format format{.mark = 0x64757468,
                                  .version = 1,
                                  .foreign = "is no history of dutiful; move it away",
                                  .remedy = "move it away"};

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

// More than this waits only where the disk does not answer; the oldest are lost.
constexpr std::size_t waiting_bytes_max = 16UL * 1024 * 1024;

std::size_t size_of(const HistoryEntry& entry) {
  const CommandResult& result = entry.result;
  return sizeof entry + result.run.task.size() + result.spawn_error.size() + result.output.size();
}

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

std::optional<std::int64_t> optional_integer(const Statement& row, int column) {
  return row.is_null(column) ? std::nullopt : std::optional{row.integer(column)};
}

// How the reason is written, and read.
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

HistoryEntry read_entry(const Statement& row) {
  HistoryEntry entry;
  CommandResult& result = entry.result;
  result.run.task = row.text(0);
  set_reason(entry, row.text(1));
  result.run.pulse = Instant{Duration{row.integer(2)}};
  result.run.attempt = static_cast<std::uint32_t>(row.integer(3));
  if (const auto scheduled = optional_integer(row, 4)) {
    entry.scheduled = Instant{Duration{*scheduled}};
  }
  result.run.started = Instant{Duration{row.integer(5)}};
  result.duration = Duration{row.integer(6)};
  if (const auto status = optional_integer(row, 7)) result.exit_status = static_cast<int>(*status);
  if (const auto signal = optional_integer(row, 8)) result.signal = static_cast<int>(*signal);
  result.spawn_error = row.text(9);
  result.past_time_limit = row.integer(10) != 0;
  result.forced = row.integer(11) != 0;
  result.user_time = Duration{row.integer(12)};
  result.system_time = Duration{row.integer(13)};
  result.memory_max = row.integer(14);
  result.output = row.text(15);
  result.output_total = static_cast<std::uint64_t>(row.integer(16));
  // A command that was told the end of has an exit status, a signal, or could not be started.
  if (!result.exit_status && !result.signal && result.spawn_error.empty()) {
    entry.end = HistoryEntry::End::interrupted;
  }
  return entry;
}

// A database tells of itself as of a state, which nobody would want to lose.
template <typename Work>
auto of_history(const std::string& path, Work work) {
  try {
    return work();
  } catch (const DatabaseError& error) {
    throw HistoryError(path,
                       error.kind() == DatabaseError::Kind::damaged
                           ? "is damaged; it may be deleted when no daemon runs, and a new one "
                             "begins with the next run"
                           : error.reason());
  }
}

// What commands write may be meant for nobody else.
const std::string& made_private(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (descriptor >= 0) ::close(descriptor);  // where it cannot be had, SQLite says why
  return path;
}

}  // namespace

HistoryError::HistoryError(const std::string& file, const std::string& reason)
    : Error("The history " + quote(file) + ' ' + reason) {}

std::string history_of(const std::string& state) {
  return file_beside(state, "-history");
}

std::optional<Duration> lateness_of(const HistoryEntry& entry) {
  const RunInfo& run = entry.result.run;
  if (!entry.reason_known || run.reason == Reason::boot) return std::nullopt;
  if (run.reason == Reason::orphan || entry.end != HistoryEntry::End::told) {
    return run.started - run.pulse;
  }
  return entry.scheduled ? std::optional{run.started - *entry.scheduled} : std::nullopt;
}

std::optional<HistoryEntry> unfinished_run(const TaskStatus& task, Instant now) {
  const bool runs = task.state == TaskStatus::State::running;
  if (!runs && task.state != TaskStatus::State::interrupted) return std::nullopt;
  HistoryEntry entry{.end = runs ? HistoryEntry::End::none : HistoryEntry::End::interrupted,
                     .to_be_restarted = !runs};
  RunInfo& run = entry.result.run;
  run.task = task.name;
  run.pulse = task.pulse.value_or(now);
  run.attempt = task.attempt;
  run.started = task.last_attempt.value_or(now);
  set_reason(entry, task.reason ? name_of(*task.reason) : "");
  if (runs) entry.result.duration = now - run.started;
  return entry;
}

std::vector<HistoryEntry> interrupted_runs(const std::string& state, Instant now) {
  std::vector<HistoryEntry> entries;
  for (const TaskStatus& task : read_interrupted(state)) {
    if (auto run = unfinished_run(task, now)) entries.push_back(std::move(*run));
  }
  return entries;
}

// The open file.
class HistoryWriter::File {
 public:
  explicit File(const std::string& path) : database_(made_private(path)) {
    const bool is_new = database_.check_format(format) == 0;
    // Readers go on meanwhile. The last runs before a power cut may be lost; the state is
    // elsewhere.
    database_.execute("PRAGMA journal_mode = WAL");
    database_.execute("PRAGMA synchronous = NORMAL");
    if (is_new) {
      Transaction transaction{database_};
      database_.execute(schema);
      database_.set_format(format);
      transaction.commit();
    }
    insert_ = std::make_unique<Statement>(
        database_,
        "INSERT INTO run VALUES (NULL, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14,"
        " ?15, ?16, ?17)");
    trim_ = std::make_unique<Statement>(
        database_,
        "DELETE FROM run WHERE task = ?1 AND id <="
        " (SELECT id FROM run WHERE task = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?2)");
  }

  void write(const std::deque<HistoryEntry>& entries, std::size_t runs_max) {
    Transaction transaction{database_};
    std::set<std::string_view> tasks;
    for (const HistoryEntry& entry : entries) {
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

  void forget(const Others& others) {
    std::vector<std::string> tasks;
    Statement row{database_, "SELECT DISTINCT task FROM run"};
    while (row.step()) tasks.push_back(row.text(0));
    Statement forget{database_, "DELETE FROM run WHERE task = ?1 AND started < ?2"};
    Transaction transaction{database_};
    for (const std::string& task : tasks) {
      if (others.than.contains(task)) continue;
      forget.bind(0, task);
      forget.bind(1, milliseconds(others.before));
      forget.run();
    }
    transaction.commit();
  }

 private:
  // Whether a daemon that was killed soon after has written it.
  [[nodiscard]] bool has(const HistoryEntry& entry) const {
    Statement row{database_, "SELECT 1 FROM run WHERE task = ?1 AND started = ?2"};
    row.bind(0, entry.result.run.task);
    row.bind(1, milliseconds(entry.result.run.started));
    return row.step();
  }

  void insert(const HistoryEntry& entry) {
    const CommandResult& result = entry.result;
    insert_->bind(0, result.run.task);
    insert_->bind(1, written_reason(entry));
    insert_->bind(2, milliseconds(result.run.pulse));
    insert_->bind(3, std::int64_t{result.run.attempt});
    bind_optional(*insert_,
                  4,
                  entry.scheduled ? std::optional{milliseconds(*entry.scheduled)} : std::nullopt);
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

  Database database_;
  std::unique_ptr<Statement> insert_;
  std::unique_ptr<Statement> trim_;
};

HistoryWriter::HistoryWriter(Options options)
    : options_(std::move(options)), thread_([this] { loop(); }) {}

HistoryWriter::~HistoryWriter() {
  {
    const std::lock_guard lock{mutex_};
    ending_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void HistoryWriter::add(HistoryEntry entry) {
  if (options_.runs_max == 0) return;
  {
    const std::lock_guard lock{mutex_};
    const std::size_t size = size_of(entry);
    entries_.push_back(std::move(entry));
    waiting_bytes_ += size;
    while (waiting_bytes_ > waiting_bytes_max) {
      waiting_bytes_ -= size_of(entries_.front());
      entries_.pop_front();
    }
  }
  changed_.notify_one();
}

void HistoryWriter::forget_others(std::set<std::string, std::less<>> tasks, Instant before) {
  {
    const std::lock_guard lock{mutex_};
    forgotten_ = {.than = std::move(tasks), .before = before};
  }
  changed_.notify_one();
}

void HistoryWriter::loop() noexcept {
  std::unique_ptr<File> file;
  std::unique_lock lock{mutex_};
  while (true) {
    changed_.wait(lock, [this] { return ending_ || !entries_.empty() || forgotten_; });
    if (entries_.empty() && !forgotten_) return;
    taken_.swap(entries_);
    waiting_bytes_ = 0;
    const std::optional<Others> forgotten = std::exchange(forgotten_, std::nullopt);
    lock.unlock();
    try {
      const std::string path = history_of(options_.state);
      of_history(path, [&] {
        // Where there is nothing to add, none is made.
        if (!file && (!taken_.empty() || std::filesystem::exists(path))) {
          file = std::make_unique<File>(path);
        }
        if (!taken_.empty()) file->write(taken_, options_.runs_max);
        if (file && forgotten) file->forget(*forgotten);
      });
      told_.clear();
    } catch (const std::bad_alloc&) {
      file.reset();
      report("memory is exhausted: runs are missing from the history");
    } catch (const std::exception& error) {
      file.reset();
      report(error.what());
    }
    taken_.clear();
    lock.lock();
  }
}

void HistoryWriter::report(const char* error) noexcept {
  if (told_ == error || !options_.on_failure) return;
  try {
    options_.on_failure(error);
    told_ = error;
  } catch (const std::exception&) {
    // There is not even the memory to tell it: the next time, perhaps.
  }
}

namespace {

std::vector<HistoryEntry> read_file(const std::string& path, const HistoryQuery& query) {
  std::vector<HistoryEntry> entries;
  const Database database{path, Database::Access::read_only};
  if (database.check_format(format) == 0) return entries;
  const std::string columns =
      "SELECT task, reason, pulse, attempt, scheduled, started, duration_ms, exit_status, signal,"
      " spawn_error, past_time_limit, forced, user_ms, system_ms, memory_max, output, output_total"
      " FROM run ";
  Statement row{database,
                columns + (query.task ? "WHERE task = ?2 ORDER BY id DESC LIMIT ?1"
                                      : "ORDER BY id DESC LIMIT ?1")};
  row.bind(0, static_cast<std::int64_t>(query.count));
  if (query.task) row.bind(1, *query.task);
  while (row.step()) entries.push_back(read_entry(row));
  return entries;
}

}  // namespace

std::vector<HistoryEntry> read_history(const HistoryQuery& query) {
  const std::string path = history_of(query.state);
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return {};
  return of_history(path, [&] { return read_file(path, query); });
}

}  // namespace dutiful
