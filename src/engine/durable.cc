#include "engine/durable.h"

namespace dutiful {

DurableTask durable_task(const TaskConfig& config, const TaskProgress& progress) {
  return {.registration = {config.name, config.cron, config.retry_delay},
          .running = progress.state == TaskState::running,
          .awaits_retry = progress.state == TaskState::awaiting_retry,
          .again = progress.attempt > 1,
          .started = happened(progress.last_attempt),
          .succeeded = happened(progress.last_success),
          .failed = happened(progress.last_failure)};
}

}  // namespace dutiful
