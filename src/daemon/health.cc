#include "daemon/health.h"

#include "text/quote.h"
#include "time/duration.h"
#include "time/iso8601.h"

namespace dutiful {

Health liveness(LoopProbe::Answer loop) {
  switch (loop) {
    case LoopProbe::Answer::turns:
      return {.reason = "ok"};
    case LoopProbe::Answer::no_loop:
      return {.reason = "ok: starting or stopping"};
    case LoopProbe::Answer::hangs:
      break;
  }
  return {.good = false, .reason = "the scheduler does not respond; the disk may be slow"};
}

Health readiness(const SchedulerStatus& status,
                 StateFile state,
                 Duration overdue_max,
                 bool name_task) {
  using Lifecycle = SchedulerStatus::Lifecycle;
  switch (status.lifecycle) {
    case Lifecycle::uninitialized:
    case Lifecycle::initializing:
      return {.good = false, .reason = "the tasks are not loaded yet"};
    case Lifecycle::stopping:
      return {.good = false, .reason = "the daemon is stopping"};
    case Lifecycle::running:
      break;
  }
  if (status.store_failing_since) {
    return {
        .good = false,
        .reason = "the state cannot be written since " + format_utc(*status.store_failing_since)};
  }
  if (state != StateFile::in_place) {
    return {.good = false,
            .reason = std::string{"the file of the state was "} +
                      (state == StateFile::removed ? "removed" : "replaced") +
                      " while in use; put it back, or restart the daemon"};
  }
  std::size_t overdue = 0;
  const TaskStatus* worst = nullptr;
  for (const TaskStatus& task : status.tasks) {
    if (!task.overdue_since || status.at - *task.overdue_since <= overdue_max) continue;
    ++overdue;
    if (worst == nullptr || task.overdue_since < worst->overdue_since) worst = &task;
  }
  if (overdue == 0) return {.reason = "ok"};
  return {.good = false,
          .reason = (overdue == 1 ? "1 task is" : std::to_string(overdue) + " tasks are") +
                    " overdue by more than " + format_duration(overdue_max) + ": " +
                    (name_task ? quote(worst->name) + " " : "") + "since " +
                    format_utc(*worst->overdue_since)};
}

}  // namespace dutiful
