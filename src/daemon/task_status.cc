#include "daemon/task_status.h"

#include <algorithm>

#include <dutiful/cron.h>

#include "store/sqlite/sqlite_store.h"

namespace dutiful {
namespace {

// A daemon that is at work starts what is due within this.
constexpr std::chrono::seconds punctual{1};

std::optional<Instant> happened(Instant instant) {
  return instant == no_instant ? std::nullopt : std::optional{instant};
}

std::optional<Instant> earlier(std::optional<Instant> a, std::optional<Instant> b) {
  return !a ? b : !b ? a : std::min(*a, *b);
}

// RULES K2: the earliest thing that obliges it to run, up to `now`.
std::optional<Instant> owed_since(const TaskProgress& progress,
                                  const std::optional<CronExpression>& cron,
                                  const Calendar& calendar,
                                  Instant now) {
  std::optional<Instant> since;
  if (progress.orphan_pending) since = happened(progress.last_attempt);
  if (progress.boot_pending) since = earlier(since, happened(progress.first_coming));
  since = earlier(since, happened(progress.retry_at));
  if (cron && progress.served_until != no_instant) {
    since = earlier(since, calendar.find_next(*cron, progress.served_until));
  }
  return since && *since <= now - punctual ? since : std::nullopt;
}

TaskStatus::State state_of(TaskState state) {
  switch (state) {
    case TaskState::running:
      return TaskStatus::State::running;
    case TaskState::awaiting_retry:
      return TaskStatus::State::awaiting_retry;
    case TaskState::awaiting_run:
      break;
  }
  return TaskStatus::State::awaiting_run;
}

TaskStatus status_of(const TaskRecord& record, const Calendar& calendar, Instant now) {
  const TaskProgress& progress = record.progress;
  TaskStatus status{.name = record.config.name,
                    .cron = record.config.cron,
                    .state = state_of(progress.state),
                    .attempt = progress.attempt,
                    .last_attempt = happened(progress.last_attempt),
                    .last_success = happened(progress.last_success),
                    .last_failure = happened(progress.last_failure),
                    .retry_at = happened(progress.retry_at)};
  // None in a damaged record: it is due when a registration says so.
  const auto cron = CronExpression::try_parse(record.config.cron);
  if (cron) status.next_due = calendar.find_next(*cron, now);
  if (progress.retry_at > now) status.next_due = earlier(status.next_due, status.retry_at);
  if (status.state != TaskStatus::State::running) {
    status.overdue_since = owed_since(progress, cron, calendar, now);
  }
  return status;
}

}  // namespace

std::vector<TaskStatus> read_status(const std::string& state,
                                    const Calendar& calendar,
                                    Instant now) {
  std::vector<TaskStatus> statuses;
  for (const TaskRecord& record : read_sqlite_state(state)) {
    statuses.push_back(status_of(record, calendar, now));
  }
  std::ranges::sort(statuses, {}, &TaskStatus::name);
  return statuses;
}

}  // namespace dutiful
