#include "daemon/recent_runs.h"

#include <algorithm>
#include <utility>

namespace dutiful {
namespace {

// How many runs one transaction reads. A longer one would keep the history from shrinking its log.
constexpr std::size_t piece = 10'000;

char letter_of(RunResult result) {
  switch (result) {
    case RunResult::succeeded:
      return 's';
    case RunResult::failed:
      return 'f';
    case RunResult::interrupted:
      return 'i';
  }
  return '?';
}

}  // namespace

std::optional<RunResult> RecentRuns::last_result() const {
  if (results.empty()) return std::nullopt;
  switch (results.back()) {
    case 's':
      return RunResult::succeeded;
    case 'f':
      return RunResult::failed;
    default:
      return RunResult::interrupted;
  }
}

void RecentRunsBoard::refresh(const std::stop_token& stop) {
  std::unique_lock turn{refreshing_, std::defer_lock};
  if (is_complete_) {
    turn.lock();
  } else if (!turn.try_lock()) {
    return;
  }
  const auto file = identity_of(history_of(state_));  // before it is opened
  const HistoryReader reader{state_};
  const std::int64_t newest = reader.newest_id();
  if (file != file_ || newest < read_until_) begin_anew(file);
  if (is_complete_) {
    read_new(reader, stop);
  } else {
    read_all(reader, stop);
  }
  read_errors(reader, stop);
}

void RecentRunsBoard::begin_anew(std::optional<FileIdentity> file) {
  file_ = file;
  read_until_ = 0;
  without_error_.clear();
  is_complete_ = false;
  const Lock lock{mutex_};
  tasks_.clear();
}

void RecentRunsBoard::read_all(const HistoryReader& reader, const std::stop_token& stop) {
  HistoryReader::Newest wanted{.runs = RecentRuns::kept, .until = reader.newest_id()};
  for (std::size_t tasks = 0; tasks < tasks_max; tasks += wanted.tasks) {
    if (stop.stop_requested()) return begin_anew(std::nullopt);
    const std::vector<RunSummary> runs = reader.read_newest_summaries(wanted);
    if (runs.empty()) break;
    add(runs);
    wanted.after = runs.back().task;
  }
  read_until_ = wanted.until;
  is_complete_ = true;
}

void RecentRunsBoard::read_new(const HistoryReader& reader, const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    const std::vector<RunSummary> runs = reader.read_summaries_after(read_until_, piece);
    if (runs.empty()) break;
    add(runs);
    read_until_ = runs.back().id;
  }
}

void RecentRunsBoard::add(const std::vector<RunSummary>& runs) {
  const Lock lock{mutex_};
  for (const RunSummary& run : runs) {
    Entry& entry = tasks_.try_emplace(run.task).first->second;
    std::string& results = entry.runs.results;
    if (results.size() == RecentRuns::kept) results.erase(0, 1);
    results += letter_of(run.result);
    entry.newest = run.id;
    entry.runs.error.clear();
    entry.runs.duration =
        run.result == RunResult::interrupted ? std::nullopt : std::optional{run.duration};
    if (run.result != RunResult::succeeded) without_error_.push_back({run.task, run.id});
  }
}

// The error of a run is made from its output, which is worth reading only for the newest one.
void RecentRunsBoard::read_errors(const HistoryReader& reader, const std::stop_token& stop) {
  for (; !without_error_.empty() && !stop.stop_requested(); without_error_.pop_back()) {
    const WithoutError& wanted = without_error_.back();
    Lock lock{mutex_};
    if (find_newest(wanted) == nullptr) continue;
    lock.unlock();
    const auto run = reader.find(wanted.run);
    lock.lock();
    Entry* const entry = find_newest(wanted);
    if (run && entry != nullptr) entry->runs.error = error_of(*run);
  }
}

RecentRunsBoard::Entry* RecentRunsBoard::find_newest(const WithoutError& wanted) {
  const auto found = tasks_.find(wanted.task);
  return found != tasks_.end() && found->second.newest == wanted.run ? &found->second : nullptr;
}

RecentRuns RecentRunsBoard::of(std::string_view task) const {
  const Lock lock{mutex_};
  const auto found = tasks_.find(task);
  return found == tasks_.end() ? RecentRuns{} : found->second.runs;
}

void RecentRunsBoard::keep_only(const std::set<std::string, std::less<>>& tasks) {
  const Lock lock{mutex_};
  std::erase_if(tasks_, [&](const auto& entry) { return !tasks.contains(entry.first); });
}

}  // namespace dutiful
