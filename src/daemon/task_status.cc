#include "daemon/task_status.h"

#include <algorithm>

#include <dutiful/cron.h>

#include "core/obligations.h"
#include "store/sqlite/sqlite_store.h"

namespace dutiful {
namespace {

std::optional<Instant> earlier(std::optional<Instant> a, std::optional<Instant> b) {
  return !a ? b : !b ? a : std::min(*a, *b);
}

// Since when the task is owed a run that a daemon would have started.
std::optional<Instant> overdue_since(const TaskProgress& progress,
                                     const std::optional<CronExpression>& cron,
                                     const Calendar& calendar,
                                     Instant now) {
  Instant pulse = no_instant;
  if (cron && progress.served_until != no_instant) {
    const auto next = calendar.find_next(*cron, progress.served_until);
    if (next && *next <= now) pulse = *next;
  }
  const Instant since = obligations_of(progress, pulse, now).earliest();
  return since <= now - punctual ? std::optional{since} : std::nullopt;
}

RecordedTask::State state_of(TaskState state) {
  switch (state) {
    case TaskState::running:
      return RecordedTask::State::running;
    case TaskState::awaiting_retry:
      return RecordedTask::State::awaiting_retry;
    case TaskState::awaiting_run:
      break;
  }
  return RecordedTask::State::awaiting_run;
}

// As the next daemon will find it: if no daemon holds the state, a recorded run was interrupted.
TaskProgress with_interruption(TaskProgress progress, HolderStatus::Answer answer) {
  if (progress.state == TaskState::running && answer == HolderStatus::Answer::free) {
    progress.state = TaskState::awaiting_run;
    progress.orphan_pending = true;
  }
  return progress;
}

// The part of the status that the record contains.
RecordedTask recorded_status(const TaskConfig& config, const TaskProgress& progress) {
  return {.name = config.name,
          .cron = config.cron,
          .state =
              progress.orphan_pending ? RecordedTask::State::interrupted : state_of(progress.state),
          .attempt = progress.attempt,
          .fence = progress.fence,
          .reason = recorded_reason(progress),
          .pulse = happened(progress.pulse),
          .last_attempt = happened(progress.last_attempt),
          .last_success = happened(progress.last_success),
          .last_failure = happened(progress.last_failure),
          .retry_at = happened(progress.retry_at)};
}

RecordedTask status_of(const TaskConfig& config,
                       const TaskProgress& progress,
                       const Calendar& calendar,
                       Instant now) {
  RecordedTask status = recorded_status(config, progress);
  // A damaged record may have an invalid expression. The task is then due when it is registered
  // again.
  const auto cron = CronExpression::try_parse(config.cron);
  if (cron) status.next_due = calendar.find_next(*cron, now);
  if (progress.retry_at > now) status.next_due = earlier(status.next_due, status.retry_at);
  if (status.state != RecordedTask::State::running) {
    status.overdue_since = overdue_since(progress, cron, calendar, now);
  }
  return status;
}

// The records, and the holder of the state when they were read. Reads again if the holder changed.
std::vector<TaskRecord> read_records(const std::string& state, HolderStatus& service) {
  constexpr int tries_max = 10;
  for (int tries = 1;; ++tries) {
    const HolderStatus before = read_holder_status(state);
    auto records = read_sqlite_state(state);
    service = read_holder_status(state);
    if (service == before || tries == tries_max) return records;
  }
}

}  // namespace

bool is_failing(const RecordedTask& task) {
  if (task.state == RecordedTask::State::awaiting_retry) return true;
  return task.last_failure && (!task.last_success || *task.last_failure > *task.last_success);
}

StateStatus read_status(const std::string& state, const Calendar& calendar, Instant now) {
  StateStatus status;
  for (const TaskRecord& record : read_records(state, status.service)) {
    status.tasks.push_back(status_of(
        record.config, with_interruption(record.progress, status.service.answer), calendar, now));
  }
  std::ranges::sort(status.tasks, {}, &RecordedTask::name);
  return status;
}

std::vector<RecordedTask> read_interrupted(const std::string& state) {
  std::vector<RecordedTask> interrupted;
  for (const TaskRecord& record : read_sqlite_state(state)) {
    const TaskProgress progress = with_interruption(record.progress, HolderStatus::Answer::free);
    if (progress.orphan_pending) interrupted.push_back(recorded_status(record.config, progress));
  }
  return interrupted;
}

}  // namespace dutiful
