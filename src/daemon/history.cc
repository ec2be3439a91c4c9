#include "daemon/history.h"

#include <filesystem>
#include <new>
#include <utility>

#include "daemon/history_file.h"
#include "files/private_file.h"
#include "store/sqlite/state_file.h"
#include "text/quote.h"

namespace dutiful {
namespace {

// More than this waits only where the disk does not answer; the oldest are lost.
constexpr std::size_t waiting_bytes_max = 16UL * 1024 * 1024;

std::size_t size_of(const HistoryEntry& entry) {
  const CommandResult& result = entry.result;
  return sizeof entry + result.run.task.size() + result.spawn_error.size() + result.output.size();
}

// A database tells of itself as of a state, which nobody would want to lose.
template <typename Work>
auto of_history(const std::string& path, Work work) {
  try {
    return work();
  } catch (const DatabaseError& error) {
    throw HistoryError(path,
                       error.kind() == DatabaseError::Kind::damaged
                           ? "is damaged; it may be deleted, and a new one "
                             "begins with the next run"
                           : error.reason());
  }
}

}  // namespace

HistoryError::HistoryError(std::string file, std::string reason)
    : Error("The history " + quote(file) + ' ' + reason),
      file_(std::move(file)),
      reason_(std::move(reason)) {}

std::string history_of(const std::string& state) {
  return file_beside(state, "-history");
}

HistoryWriter::HistoryWriter(Options options)
    : options_(std::move(options)), thread_([this] { loop(); }) {}

HistoryWriter::~HistoryWriter() {
  {
    const Lock lock{mutex_};
    ending_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void HistoryWriter::add(HistoryEntry entry) {
  if (options_.runs_max == 0) return;
  {
    const Lock lock{mutex_};
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
    const Lock lock{mutex_};
    forgotten_ = {.than = std::move(tasks), .before = before};
  }
  changed_.notify_one();
}

void HistoryWriter::loop() noexcept {
  std::optional<HistoryFile> file;
  Lock lock{mutex_};
  while (true) {
    while (!ending_ && entries_.empty() && !forgotten_) changed_.wait(lock);
    if (entries_.empty() && !forgotten_) return;
    taken_.swap(entries_);
    waiting_bytes_ = 0;
    const std::optional<Others> forgotten = std::exchange(forgotten_, std::nullopt);
    lock.unlock();
    try {
      const std::string path = history_of(options_.state);
      of_history(path, [&] {
        if (file && !file->is_there()) {
          file->abandon();
          file.reset();
        }
        // Where there is nothing to add, none is made.
        if (!file && (!taken_.empty() || std::filesystem::exists(path))) {
          file.emplace(path);
        }
        if (!taken_.empty()) file->write(taken_, options_.runs_max);
        if (file && forgotten) file->forget_others(forgotten->than, forgotten->before);
      });
      told_.clear();
    } catch (const std::bad_alloc&) {
      file.reset();
      report("memory is exhausted: runs are missing from the history");
    } catch (const FileRefused& refused) {
      file.reset();
      report(refused.what(), &refused);
    } catch (const std::exception& error) {
      file.reset();
      report(error.what());
    }
    taken_.clear();
    lock.lock();
  }
}

void HistoryWriter::report(const char* error, const FileRefused* refused) noexcept {
  if (told_ == error || !options_.on_failure) return;
  try {
    if (refused != nullptr && options_.on_refused) options_.on_refused(*refused);
    options_.on_failure(error);
    told_ = error;
  } catch (const std::exception&) {
    // There is not even the memory to tell it: the next time, perhaps.
  }
}

std::vector<HistoryEntry> read_history(const HistoryQuery& query) {
  const std::string path = history_of(query.state);
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return {};
  return of_history(path, [&] { return read_history_file(path, query.task, query.count); });
}

}  // namespace dutiful
