#include "daemon/history_entry.h"

#include <utility>

namespace dutiful {

std::optional<Duration> lateness_of(const HistoryEntry& entry) {
  const RunInfo& run = entry.result.run;
  if (!entry.reason_known || run.reason == Reason::boot) return std::nullopt;
  if (run.reason == Reason::orphan || entry.end != HistoryEntry::End::recorded) {
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
  run.fence = task.fence;
  run.started = task.last_attempt.value_or(now);
  entry.reason_known = task.reason.has_value();
  if (task.reason) run.reason = *task.reason;
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

}  // namespace dutiful
