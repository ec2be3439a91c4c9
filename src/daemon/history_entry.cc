#include "daemon/history_entry.h"

#include <utility>

namespace dutiful {

const char* result_name_of(const HistoryEntry& entry) {
  switch (entry.end) {
    case HistoryEntry::End::none:
      return "running";
    case HistoryEntry::End::interrupted:
      return "interrupted";
    case HistoryEntry::End::recorded:
      break;
  }
  return entry.result.succeeded() ? "succeeded" : "failed";
}

std::string error_of(const HistoryEntry& entry) {
  if (entry.end == HistoryEntry::End::interrupted) {
    return std::string{
               "no result was recorded: the daemon was killed or crashed, or could not "
               "write its state"} +
           (entry.to_be_restarted ? "; the run will be restarted" : "");
  }
  return entry.end == HistoryEntry::End::none || entry.result.succeeded() ? ""
                                                                          : reason_of(entry.result);
}

std::optional<Duration> lateness_of(const HistoryEntry& entry) {
  const RunInfo& run = entry.result.run;
  if (!entry.reason_known || run.reason == Reason::boot) return std::nullopt;
  if (run.reason == Reason::orphan || entry.end != HistoryEntry::End::recorded) {
    return run.started - run.pulse;
  }
  return entry.scheduled ? std::optional{run.started - *entry.scheduled} : std::nullopt;
}

std::optional<HistoryEntry> unfinished_run(const RecordedTask& task, Instant now) {
  const bool runs = task.state == RecordedTask::State::running;
  if (!runs && task.state != RecordedTask::State::interrupted) return std::nullopt;
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
  for (const RecordedTask& task : read_interrupted(state)) {
    if (auto run = unfinished_run(task, now)) entries.push_back(std::move(*run));
  }
  return entries;
}

}  // namespace dutiful
