// What the scheduler knows of a task: how it is registered, and how far it has come.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <dutiful/run.h>
#include <dutiful/time.h>

#include "time/clock_range.h"

namespace dutiful {

// No such instant: it has not happened, or is not to happen.
inline constexpr Instant no_instant = Instant::min();

[[nodiscard]] constexpr std::optional<Instant> happened(Instant instant) {
  return instant == no_instant ? std::nullopt : std::optional{instant};
}

// How a task is registered. Compared by the exact text (RULES P3).
struct TaskConfig {
  std::string name;
  std::string cron;
  Duration retry_delay{};

  // Not persisted and not compared. Its place in the list, and what is validated with the rest of
  // the registration (RULES I3) but used by the runtime alone.
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

// How far a task has come (RULES K8): what changes from run to run, and survives a crash.
struct TaskProgress {
  TaskState state = TaskState::awaiting_run;
  bool boot_pending = false;     // it came for the first time in a minute that pulses (K2)
  bool orphan_pending = false;   // its last run was interrupted by a crash (K2)
  std::uint32_t attempt = 0;     // of the newest run: how often its pulse has been tried, from 1
  std::uint32_t retries = 0;     // how many of these were retries; the others followed a crash
  std::uint64_t fence = 0;       // of the newest run (P8); 0: it has never run
  std::uint64_t recurrence = 0;  // of the newest run, as in RunInfo
  Instant pulse = no_instant;    // of the newest run; with the name, its key (P8)
  Instant first_coming = no_instant;
  Instant served_until = no_instant;  // pulses up to here are served or forgotten (K3, K4, T7)
  Instant last_attempt = no_instant;  // start of the newest run
  Instant last_success = no_instant;
  Instant last_failure = no_instant;
  Instant retry_at = no_instant;      // pendingRetryUntil; none unless state is awaiting_retry
  Instant recurs_until = no_instant;  // the latest of the pulses before a clock went back (T7)

  friend bool operator==(const TaskProgress&, const TaskProgress&) = default;
};

// Why the newest run started, as far as the record tells: of a first attempt. A pulse from before
// the task came is that of the minute it came in, unless the run is older still: then the task was
// removed and came again while it went on.
[[nodiscard]] constexpr std::optional<Reason> recorded_reason(const TaskProgress& progress) {
  if (progress.attempt != 1 || progress.last_attempt < progress.first_coming) return std::nullopt;
  return progress.pulse <= progress.first_coming ? Reason::boot : Reason::cron;
}

}  // namespace dutiful
