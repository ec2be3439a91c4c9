#include "runtime/runs_in_progress.h"

#include <algorithm>

namespace dutiful {

void send(const StopRequests& requests) {
  for (const auto& [run, reason] : requests) run->request(reason);
}

void RunsInProgress::add(std::shared_ptr<ActiveRun> run) {
  const TaskId task = run->task;
  const Instant deadline = run->deadline;
  const auto added = runs_.emplace(task, std::move(run)).first;
  if (deadline == Instant::max()) return;
  try {
    deadlines_.emplace(deadline, task);
  } catch (...) {
    runs_.erase(added);
    throw;
  }
}

void RunsInProgress::remove(const ActiveRun& run) noexcept {
  deadlines_.erase({run.deadline, run.task});
  runs_.erase(run.task);
}

void RunsInProgress::enforce_limits(Instant now) {
  while (next_deadline() <= now) {
    const auto first = deadlines_.begin();
    ActiveRun& run = *runs_.at(first->second);
    requests_.push_back({run.stop, StopReason::time_limit});
    run.timed_out = true;
    deadlines_.erase(first);
  }
}

Instant RunsInProgress::next_deadline() const noexcept {
  return deadlines_.empty() ? Instant::max() : deadlines_.begin()->first;
}

void RunsInProgress::request_stop_of_all() {
  std::vector<TaskId> tasks;
  tasks.reserve(runs_.size());
  for (const auto& [task, run] : runs_) tasks.push_back(task);
  std::ranges::sort(tasks);
  requests_.reserve(requests_.size() + tasks.size());
  for (const TaskId task : tasks) request_stop_of(*runs_.at(task));
}

void RunsInProgress::request_stop_of(const ActiveRun& run) {
  requests_.push_back({run.stop, StopReason::stopping});
}

}  // namespace dutiful
