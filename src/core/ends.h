// What the start and the end of a run change about the progress of its task (RULES K3, K5, K8).
#pragma once

#include <algorithm>

#include "core/task.h"

namespace dutiful {

constexpr void succeed(TaskProgress& progress, Instant now) {
  progress.state = TaskState::awaiting_run;
  progress.last_success = now;
}

constexpr void fail(TaskProgress& progress, Instant now, Duration retry_delay) {
  progress.state = TaskState::awaiting_retry;
  progress.last_failure = now;
  progress.retry_at = later(now, retry_delay);
}

// It ended without a result, and is started again at once (K2, orphan).
constexpr void interrupt(TaskProgress& progress) {
  progress.state = TaskState::awaiting_run;
  progress.orphan_pending = true;
}

// The newest start is recorded only now, which is when it counts from.
constexpr void count_start_from(TaskProgress& progress, Instant now) {
  progress.last_attempt = now;
  progress.served_until = std::max(progress.served_until, now);
}

// The end that was noted last is recorded only now, which is when it counts from (H5).
constexpr void count_end_from(TaskProgress& progress, Instant now, Duration retry_delay) {
  if (progress.state == TaskState::awaiting_retry) {
    fail(progress, now, retry_delay);
  } else if (!progress.orphan_pending) {
    progress.last_success = now;
  }
}

}  // namespace dutiful
