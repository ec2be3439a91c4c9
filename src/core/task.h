// What the scheduler knows about a task: its registration and its progress.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <dutiful/run.h>
#include <dutiful/time.h>

#include "time/clock_range.h"
#include "time/no_instant.h"

namespace dutiful {

// How a task is registered. Compared by the exact text (RULES P3).
struct TaskConfig {
  std::string name;
  std::string cron;
  Duration retry_delay{};

  // Not persisted and not compared: its place in the list, and what is validated with the rest of
  // the registration (RULES I3) but used only by the runtime.
  std::uint32_t registration = 0;
  bool has_callback = true;
  Duration time_limit{};

  friend bool operator==(const TaskConfig& a, const TaskConfig& b) {
    return a.name == b.name && a.cron == b.cron && a.retry_delay == b.retry_delay;
  }
};

// The task lifecycle of RULES K1. Stored, so never renumbered.
enum class TaskState : std::uint8_t {
  awaiting_run = 0,
  running = 1,
  awaiting_retry = 2,
};

// The progress of a task (RULES K8): what changes from run to run and survives a crash.
struct TaskProgress {
  TaskState state = TaskState::awaiting_run;
  bool boot_pending = false;     // it was new in a minute that is a pulse (K2)
  bool orphan_pending = false;   // its last run was interrupted (K2)
  std::uint32_t attempt = 0;     // of the newest run for its pulse, from 1
  std::uint32_t retries = 0;     // how many attempts were retries; others were restarts
  std::uint64_t fence = 0;       // of the newest run (P8); 0: it has never run
  std::uint64_t recurrence = 0;  // of the newest run, as in RunInfo
  Instant pulse = no_instant;    // of the newest run; with the name, its key (P8)
  Instant first_coming = no_instant;
  Instant served_until = no_instant;  // pulses up to here are served or dropped (K3, K4, T7)
  Instant last_attempt = no_instant;  // start of the newest run
  Instant last_success = no_instant;
  Instant last_failure = no_instant;
  Instant retry_at = no_instant;      // pendingRetryUntil; none unless state is awaiting_retry
  Instant recurs_until = no_instant;  // the latest pulse before the clock was set back (T7)

  friend bool operator==(const TaskProgress&, const TaskProgress&) = default;
};

// Why the newest run started, as far as the record shows it, which is only for a first attempt. If
// the pulse is not later than the first registration, it is the minute of that registration (boot).
// If the run itself is earlier, the task was removed and registered again while it ran, and the
// reason is unknown.
[[nodiscard]] constexpr std::optional<Reason> recorded_reason(const TaskProgress& progress) {
  if (progress.attempt != 1 || progress.last_attempt < progress.first_coming) return std::nullopt;
  return progress.pulse <= progress.first_coming ? Reason::boot : Reason::cron;
}

}  // namespace dutiful
