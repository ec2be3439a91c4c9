#include "store/check_progress.h"

#include <dutiful/errors.h>

#include "time/iso8601.h"

namespace dutiful {
namespace {

bool has(Instant instant) {
  return instant != no_instant;
}

// Every instant comes from a clock or from later(). Neither leaves these years.
bool is_possible(Instant instant) {
  using std::chrono::sys_days;
  constexpr Instant begin = sys_days{year_min / 1 / 1};
  constexpr Instant end = sys_days{year_max / 12 / 31} + std::chrono::days{1};
  return begin <= instant && instant < end;
}

}  // namespace

void check_instant(Instant instant, const char* field, const std::string& task) {
  if (is_possible(instant)) return;
  const std::string value = std::to_string(instant.time_since_epoch().count());
  throw TaskInvalidValueError(field, value, value + " ms is outside the years 1 to 9999", task);
}

void check_progress(const TaskProgress& progress, const std::string& task) {
  const auto refuse = [&](const char* field, const std::string& value, const std::string& reason) {
    throw TaskInvalidValueError(field, value, reason, task);
  };
  const auto require = [&](Instant instant, const char* field) {
    if (!has(instant)) throw TaskMissingFieldError(field, task);
  };
  const auto check_range = [&](Instant instant, const char* field) {
    if (has(instant)) check_instant(instant, field, task);
  };

  check_range(progress.pulse, "pulse");
  check_range(progress.first_coming, "firstComing");
  check_range(progress.served_until, "servedUntil");
  check_range(progress.last_attempt, "lastAttemptAt");
  check_range(progress.last_success, "lastSuccessAt");
  check_range(progress.last_failure, "lastFailureAt");
  check_range(progress.retry_at, "pendingRetryUntil");
  check_range(progress.recurs_until, "recursUntil");

  require(progress.first_coming, "firstComing");
  require(progress.served_until, "servedUntil");

  // A task that is running, awaits a retry, was interrupted or has ended was started. A start has
  // an instant, a pulse, an attempt and a fence.
  const bool started = progress.state != TaskState::awaiting_run || progress.orphan_pending ||
                       progress.attempt > 0 || progress.fence > 0 || has(progress.pulse) ||
                       has(progress.last_attempt) || has(progress.last_success) ||
                       has(progress.last_failure);
  if (started) {
    require(progress.last_attempt, "lastAttemptAt");
    require(progress.pulse, "pulse");
    if (progress.attempt == 0) {
      refuse("attempt", "0", "0 is not an attempt number, but the task has run");
    }
    if (progress.fence == 0) {
      refuse("fence", "0", "0 is not a fence, but the task has run");
    }
  }
  if (progress.recurrence > progress.fence) {
    const std::string value = std::to_string(progress.recurrence);
    refuse("recurrence", value, value + " is larger than the fence of the newest run");
  }
  // The first attempt is not a retry.
  if (progress.retries > 0 && progress.retries >= progress.attempt) {
    const std::string value = std::to_string(progress.retries);
    refuse("retryCount",
           value,
           value + " is not less than the number of attempts, " + std::to_string(progress.attempt));
  }

  if (progress.state == TaskState::awaiting_retry) {
    require(progress.last_failure, "lastFailureAt");
    require(progress.retry_at, "pendingRetryUntil");
  } else if (has(progress.retry_at)) {
    refuse("pendingRetryUntil", format_utc(progress.retry_at), "the task is not awaiting a retry");
  }
  if (progress.orphan_pending && progress.state != TaskState::awaiting_run) {
    refuse("orphanPending", "1", "it must be 0 unless the task awaits a run");
  }
}

}  // namespace dutiful
