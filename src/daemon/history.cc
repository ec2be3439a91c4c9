#include "daemon/history.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <new>
#include <utility>

#include "files/private_file.h"
#include "sync/back_off.h"

namespace dutiful {
namespace {

using Steady = std::chrono::steady_clock;

// Room for tens of thousands of runs, more than end while a disk is full for a while.
constexpr std::size_t waiting_bytes_max = 16UL * 1024 * 1024;

std::size_t size_of(const HistoryEntry& entry) {
  const CommandResult& result = entry.result;
  return sizeof entry + result.run.task.size() + result.spawn_error.size() + result.output.size();
}

// A transaction that failed may have been committed, if the disk failed late. The file then has all
// of it.
void drop_written(const HistoryFile& file, std::list<HistoryEntry>& entries, std::size_t in_doubt) {
  const auto end = std::next(entries.begin(), static_cast<std::ptrdiff_t>(in_doubt));
  const auto last = std::ranges::find(std::make_reverse_iterator(end),
                                      entries.rend(),
                                      HistoryEntry::End::recorded,
                                      &HistoryEntry::end);
  if (last != entries.rend() && file.has(*last)) entries.erase(entries.begin(), end);
}

}  // namespace

HistoryWriter::HistoryWriter(Options options)
    : options_(std::move(options)), uptime_(options_.heartbeat), thread_([this] { loop(); }) {}

HistoryWriter::~HistoryWriter() {
  {
    const Lock lock{mutex_};
    ending_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void HistoryWriter::add(HistoryEntry entry) {
  if (options_.retention.keeps_nothing()) return;
  std::string& output = entry.result.output;
  const std::size_t kept = options_.retention.output_bytes;
  if (output.size() > kept) output.erase(0, output.size() - kept);
  const std::size_t size = size_of(entry);
  Entries added;
  added.push_back(std::move(entry));
  {
    const Lock lock{mutex_};
    entries_.splice(entries_.end(), added);
    waiting_bytes_ += size;
    drop_oldest();
  }
  changed_.notify_one();
}

void HistoryWriter::add_lost() noexcept {
  if (options_.retention.keeps_nothing()) return;
  {
    const Lock lock{mutex_};
    ++lost_;
    is_memory_exhausted_ = true;
  }
  changed_.notify_one();
}

void HistoryWriter::begin_uptime(Instant since) {
  {
    const Lock lock{mutex_};
    up_since_ = since;
    beat_is_due_ = !options_.retention.keeps_nothing();
  }
  changed_.notify_one();
}

std::optional<Instant> HistoryWriter::up_since() {
  const Lock lock{mutex_};
  return up_since_;
}

void HistoryWriter::prune_removed(std::set<std::string, std::less<>> tasks, Instant before) {
  {
    const Lock lock{mutex_};
    pruning_ = {.tasks = std::move(tasks), .before = before};
  }
  changed_.notify_one();
}

void HistoryWriter::drop_oldest() {
  while (waiting_bytes_ > waiting_bytes_max) {
    waiting_bytes_ -= size_of(entries_.front());
    entries_.pop_front();
    if (in_doubt_ > 0) --in_doubt_;
    ++lost_;
  }
}

HistoryWriter::Batch HistoryWriter::take() {
  waiting_bytes_ = 0;
  return {.entries = std::exchange(entries_, {}),
          .in_doubt = std::exchange(in_doubt_, 0),
          .pruning = std::exchange(pruning_, std::nullopt),
          .up_since = std::exchange(beat_is_due_, false) ? up_since_ : std::nullopt};
}

void HistoryWriter::put_back(Batch batch) noexcept {
  for (const HistoryEntry& entry : batch.entries) waiting_bytes_ += size_of(entry);
  in_doubt_ = batch.in_doubt;
  entries_.splice(entries_.begin(), batch.entries);
  if (!pruning_) pruning_ = std::move(batch.pruning);
  if (batch.up_since) beat_is_due_ = true;
  drop_oldest();
}

void HistoryWriter::loop() noexcept {
  BackOff back_off;
  Time next_try{};
  Time next_beat{};
  bool is_last_beat_made = false;
  Lock lock{mutex_};
  while (true) {
    while (!ending_ && !has_work()) await_work(lock, next_beat);
    if (std::exchange(is_memory_exhausted_, false)) {
      lock.unlock();
      report(std::make_exception_ptr(std::bad_alloc{}), back_off.delay());
      lock.lock();
      continue;
    }
    const bool records_uptime = up_since_ && !options_.retention.keeps_nothing();
    if (records_uptime && (!ending_ || !std::exchange(is_last_beat_made, true))) {
      beat_is_due_ = true;  // it costs little with every batch
    }
    if (!has_work()) break;
    // Runs that are added meanwhile do not shorten the delay.
    while (!ending_ && back_off.waits() && Steady::now() < next_try) {
      changed_.wait_until(lock, next_try);
    }
    const bool is_last_try = ending_;
    Batch batch = take();
    const std::size_t waited = batch.entries.size();
    lock.unlock();
    const std::exception_ptr error = write(batch);
    if (options_.heartbeat) next_beat = Steady::now() + *options_.heartbeat;
    if (!error) {
      back_off.succeed();
      report_recovery(waited);
      lock.lock();
      continue;
    }
    file_.reset();
    lock.lock();
    put_back(std::move(batch));
    if (is_last_try) {
      lost_ += entries_.size();
      entries_.clear();
      pruning_.reset();
      beat_is_due_ = false;
    } else {
      next_try = Steady::now() + back_off.fail();
    }
    lock.unlock();
    report(error, is_last_try ? std::nullopt : std::optional{back_off.delay()});
    lock.lock();
  }
  file_.reset();
}

void HistoryWriter::await_work(Lock& lock, Time next_beat) {
  if (!options_.heartbeat || !up_since_ || options_.retention.keeps_nothing()) {
    changed_.wait(lock);
  } else if (!changed_.wait_until(lock, next_beat)) {
    beat_is_due_ = true;
  }
}

// The uptimes to record.
std::vector<Uptime> HistoryWriter::look_at_clock(const Batch& batch) {
  std::vector<Uptime> uptimes;
  if (!batch.up_since) return uptimes;
  if (!uptime_.is_begun()) uptime_.begin(*batch.up_since);
  uptime_.look(options_.now());
  if (uptime_.ended()) uptimes.push_back(*uptime_.ended());
  uptimes.push_back(*uptime_.current());
  return uptimes;
}

// Removes the runs that it has written from the batch. Returns the error, if any.
std::exception_ptr HistoryWriter::write(Batch& batch) noexcept {
  try {
    const std::string path = history_of(options_.state);
    translate_history_errors(path, [&] {
      if (file_ && !file_->is_there()) {
        file_->abandon();
        file_.reset();
      }
      const std::vector<Uptime> uptimes = look_at_clock(batch);
      const bool is_any = !batch.entries.empty() || !uptimes.empty();
      // Without anything to add, no file is created.
      if (!file_ && (is_any || std::filesystem::exists(path))) file_.emplace(path);
      if (file_) drop_written(*file_, batch.entries, batch.in_doubt);
      batch.in_doubt = batch.entries.size();
      if (is_any) file_->write(batch.entries, uptimes, options_.retention);
      uptime_.forget_ended();
      batch.entries.clear();
      batch.in_doubt = 0;
      if (file_ && batch.pruning) {
        file_->prune_removed(batch.pruning->tasks, batch.pruning->before);
      }
    });
    return nullptr;
  } catch (...) {
    return std::current_exception();
  }
}

void HistoryWriter::report(const std::exception_ptr& error,
                           std::optional<Duration> next_try) noexcept {
  try {
    try {
      std::rethrow_exception(error);
    } catch (const std::bad_alloc&) {
      report("memory is exhausted", next_try);
    } catch (const FileRefused& refused) {
      report(refused.what(), next_try, &refused);
    } catch (const std::exception& exception) {
      report(exception.what(), next_try);
    }
  } catch (const std::exception&) {
    // There is no memory to report it. The next failure is reported instead.
  }
}

void HistoryWriter::report(const std::string& error,
                           std::optional<Duration> next_try,
                           const FileRefused* refused) {
  HistoryFailure failure{
      .error = error, .waiting = 0, .lost = 0, .next_try = next_try, .refused = refused};
  {
    const Lock lock{mutex_};
    failure.waiting = entries_.size();
    failure.lost = lost_;
  }
  const Time now = Steady::now();
  const bool is_reported =
      next_try ? trouble_.should_report(error, failure.lost, now) : failure.lost > 0;
  if (!is_reported || !options_.on_failure) return;
  options_.on_failure(failure);
  trouble_.set_reported(std::move(failure.error), now);
  const Lock lock{mutex_};
  lost_ -= failure.lost;
}

void HistoryWriter::report_recovery(std::size_t written) noexcept {
  std::size_t lost = 0;
  {
    const Lock lock{mutex_};
    lost = lost_;
  }
  if (!trouble_.recover(lost) || !options_.on_recovery) return;
  try {
    options_.on_recovery({.written = written, .lost = lost});
    const Lock lock{mutex_};
    lost_ -= lost;
  } catch (const std::exception&) {
    // As above. The next batch reports the loss.
  }
}

}  // namespace dutiful
