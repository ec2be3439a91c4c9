// The events that a scheduler reports (RULES V), one struct each. `name`, `level` and the result of
// fields() are published and stay the same in every release; docs/events.md lists them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <dutiful/events.h>
#include <dutiful/run.h>
#include <dutiful/time.h>

#include "account/fates.h"

namespace dutiful::event {

struct SchedulerInitializationStarted {
  static constexpr std::string_view name = "SchedulerInitializationStarted";
  static constexpr Level level = Level::debug;
  std::int64_t registrations = 0;

  void fields(auto& add) const { add("totalRegistrations", registrations); }
};

struct SchedulerInitializationCompleted {
  static constexpr std::string_view name = "SchedulerInitializationCompleted";
  static constexpr Level level = Level::debug;
  std::int64_t registrations = 0;
  std::int64_t scheduled = 0;
  std::int64_t skipped = 0;  // never due (C5)

  void fields(auto& add) const {
    add("totalRegistrations", registrations);
    add("scheduledCount", scheduled);
    add("skippedCount", skipped);
  }
};

struct SchedulerInitializationFailed {
  static constexpr std::string_view name = "SchedulerInitializationFailed";
  static constexpr Level level = Level::warning;
  std::string error;

  void fields(auto& add) const { add("error", error); }
};

struct SchedulerReinitializationStarted {
  static constexpr std::string_view name = "SchedulerReinitializationStarted";
  static constexpr Level level = Level::debug;

  void fields(auto& /*add*/) const {}
};

struct SchedulerReinitializationCompleted {
  static constexpr std::string_view name = "SchedulerReinitializationCompleted";
  static constexpr Level level = Level::debug;

  void fields(auto& /*add*/) const {}
};

struct SchedulerStopRequested {
  static constexpr std::string_view name = "SchedulerStopRequested";
  static constexpr Level level = Level::info;

  void fields(auto& /*add*/) const {}
};

struct SchedulerStopped {
  static constexpr std::string_view name = "SchedulerStopped";
  static constexpr Level level = Level::info;

  void fields(auto& /*add*/) const {}
};

struct PollingStarted {
  static constexpr std::string_view name = "PollingStarted";
  static constexpr Level level = Level::debug;

  void fields(auto& /*add*/) const {}
};

struct PollingStopRequested {
  static constexpr std::string_view name = "PollingStopRequested";
  static constexpr Level level = Level::debug;

  void fields(auto& /*add*/) const {}
};

struct PollingStopped {
  static constexpr std::string_view name = "PollingStopped";
  static constexpr Level level = Level::debug;

  void fields(auto& /*add*/) const {}
};

struct PollStarted {
  static constexpr std::string_view name = "PollStarted";
  static constexpr Level level = Level::debug;
  Instant time;
  std::int64_t tasks = 0;

  void fields(auto& add) const {
    add("pollTime", time);
    add("scheduledTaskCount", tasks);
  }
};

struct PollCompleted {
  static constexpr std::string_view name = "PollCompleted";
  static constexpr Level level = Level::debug;
  Instant time;
  std::int64_t started = 0;
  Duration duration{};

  void fields(auto& add) const {
    add("pollTime", time);
    // The scheduler evaluates only the tasks that it starts.
    add("tasksEvaluated", started);
    add("tasksExecuted", started);
    add("duration", duration);
  }
};

struct TaskAdded {
  static constexpr std::string_view name = "TaskAdded";
  static constexpr Level level = Level::info;
  std::string task;
  std::string cron;
  Duration retry_delay{};

  void fields(auto& add) const {
    add("taskName", task);
    add("cronExpression", cron);
    add("retryDelayMs", retry_delay);
  }
};

struct TaskPreserved {
  static constexpr std::string_view name = "TaskPreserved";
  static constexpr Level level = Level::debug;
  std::string task;

  void fields(auto& add) const { add("taskName", task); }
};

struct TaskOverridden {
  static constexpr std::string_view name = "TaskOverridden";
  static constexpr Level level = Level::info;
  struct Settings {
    std::string cron;
    Duration retry_delay{};

    void fields(auto& add) const {
      add("cronExpression", cron);
      add("retryDelayMs", retry_delay);
    }
  };
  std::string task;
  Settings before;
  Settings after;

  [[nodiscard]] std::string_view change() const {
    if (before.cron == after.cron) return "retryDelay";
    return before.retry_delay == after.retry_delay ? "cronExpression" : "cronExpression,retryDelay";
  }
  void fields(auto& add) const {
    add("taskName", task);
    add("changeType", change());
    add("oldState", before);
    add("newState", after);
  }
};

struct TaskRemoved {
  static constexpr std::string_view name = "TaskRemoved";
  static constexpr Level level = Level::info;
  std::string task;
  std::optional<Instant> last_execution{};

  void fields(auto& add) const {
    add("taskName", task);
    add("lastExecutionTime", last_execution);
  }
};

struct TaskOrphaned {
  static constexpr std::string_view name = "TaskOrphaned";
  static constexpr Level level = Level::warning;
  std::string task;
  Instant last_execution;
  std::string scheduler;  // the identifier of the scheduler that died (P5)

  void fields(auto& add) const {
    add("taskName", task);
    add("lastExecutionTime", last_execution);
    add("schedulerIdentifier", scheduler);
  }
};

struct TaskNeverDue {
  static constexpr std::string_view name = "TaskNeverDue";
  static constexpr Level level = Level::warning;
  std::string task;
  std::string cron;

  void fields(auto& add) const {
    add("taskName", task);
    add("cronExpression", cron);
  }
};

struct TaskScheduled {
  static constexpr std::string_view name = "TaskScheduled";
  static constexpr Level level = Level::debug;
  std::string task;
  std::string cron;
  Duration retry_delay{};

  void fields(auto& add) const {
    add("taskName", task);
    add("cronExpression", cron);
    add("retryDelayMs", retry_delay);
  }
};

struct TaskSkipped {
  static constexpr std::string_view name = "TaskSkipped";
  static constexpr Level level = Level::debug;
  std::string task;
  std::string reason;

  void fields(auto& add) const {
    add("taskName", task);
    add("reason", reason);
  }
};

struct ClockCorrected {
  static constexpr std::string_view name = "ClockCorrected";
  static constexpr Level level = Level::warning;
  std::string task;
  Instant persisted;  // the recorded time, which the clock has not reached (T7)

  void fields(auto& add) const {
    add("taskName", task);
    add("persistedTime", persisted);
  }
};

struct ClockOutOfRange {
  static constexpr std::string_view name = "ClockOutOfRange";
  static constexpr Level level = Level::error;
  std::string error;

  void fields(auto& add) const { add("error", error); }
};

// The pulses that a start serves, by what became of them. Fates that none of them has are left out.
struct ServedPulses {
  PulseFates fates;

  void fields(auto& add) const {
    PulseFates::for_each(fates, [&](std::string_view fate, std::int64_t pulses) {
      if (pulses > 0) add(fate, pulses);
    });
  }
};

struct TaskRunStarted {
  static constexpr std::string_view name = "TaskRunStarted";
  static constexpr Level level = Level::info;
  std::string task;
  Instant scheduled;
  Instant actual;
  Reason reason = Reason::cron;
  std::uint32_t attempt = 1;
  bool is_retry = false;
  bool is_repeated_minute = false;
  std::int64_t missed = 0;  // pulses that it serves besides the scheduled one (T6)
  PulseFates served{};      // all pulses that it serves, by what became of them

  void fields(auto& add) const {
    add("taskName", task);
    add("scheduledTime", scheduled);
    add("actualTime", actual);
    add("reason", reason);
    add("attempt", std::int64_t{attempt});
    if (is_retry) add("isRetry", true);
    if (is_repeated_minute) add("isRepeatedMinute", true);
    if (missed > 0) add("missedCount", missed);
    if (served.total() > served.run) add("pulses", ServedPulses{served});
  }
};

struct TaskRetryStarted {
  static constexpr std::string_view name = "TaskRetryStarted";
  static constexpr Level level = Level::info;
  std::string task;
  std::int64_t retries = 0;

  void fields(auto& add) const {
    add("taskName", task);
    add("retryCount", retries);
  }
};

struct TaskRetryPreempted {
  static constexpr std::string_view name = "TaskRetryPreempted";
  static constexpr Level level = Level::info;
  std::string task;
  std::string reason;

  void fields(auto& add) const {
    add("taskName", task);
    add("reason", reason);
  }
};

struct TaskRunCompleted {
  static constexpr std::string_view name = "TaskRunCompleted";
  static constexpr Level level = Level::info;
  std::string task;
  Duration duration{};
  Reason reason = Reason::cron;
  std::uint32_t attempt = 1;
  // Of a command:
  std::optional<std::int64_t> process{};
  std::optional<std::int64_t> exit_status{};
  std::optional<std::int64_t> signal{};

  void fields(auto& add) const {
    add("taskName", task);
    add("duration", duration);
    add("success", true);
    add("reason", reason);
    add("attempt", std::int64_t{attempt});
    add("processId", process);
    add("exitStatus", exit_status);
    add("signal", signal);
  }
};

struct TaskRunFailed {
  static constexpr std::string_view name = "TaskRunFailed";
  static constexpr Level level = Level::warning;
  std::string task;
  Duration duration{};
  std::string error;
  std::optional<Instant> next_retry{};
  Reason reason = Reason::cron;
  std::uint32_t attempt = 1;
  // Of a command, if it was started:
  std::optional<std::int64_t> process{};
  std::optional<std::int64_t> exit_status{};
  std::optional<std::int64_t> signal{};

  void fields(auto& add) const {
    add("taskName", task);
    add("duration", duration);
    add("success", false);
    add("error", error);
    add("nextRetryAt", next_retry);
    add("reason", reason);
    add("attempt", std::int64_t{attempt});
    add("processId", process);
    add("exitStatus", exit_status);
    add("signal", signal);
  }
};

struct DueSkipped {
  static constexpr std::string_view name = "DueSkipped";
  static constexpr Level level = Level::info;
  std::string task;
  CivilMinute scheduled;  // the clocks skip it (T3)

  void fields(auto& add) const {
    add("taskName", task);
    add("scheduledTime", scheduled);
    add("reason", std::string_view{"gap"});
  }
};

struct SchedulingDelayed {
  static constexpr std::string_view name = "SchedulingDelayed";
  static constexpr Level level = Level::warning;
  std::string task;
  Instant due;
  Duration delay{};

  void fields(auto& add) const {
    add("taskName", task);
    add("dueTime", due);
    add("delay", delay);
  }
};

struct AccessRefused {
  static constexpr std::string_view name = "AccessRefused";
  static constexpr Level level = Level::warning;
  std::string what;
  std::string reason;
  std::string who;

  void fields(auto& add) const {
    add("what", what);
    add("reason", reason);
    add("who", who);
  }
};

struct StoreFailed {
  static constexpr std::string_view name = "StoreFailed";
  static constexpr Level level = Level::error;
  std::string error;
  Instant next_try;

  void fields(auto& add) const {
    add("error", error);
    add("nextTryAt", next_try);
  }
};

struct TraceFailed {
  static constexpr std::string_view name = "TraceFailed";
  static constexpr Level level = Level::error;
  std::string error;

  void fields(auto& add) const { add("error", error); }
};

struct TraceSetAside {
  static constexpr std::string_view name = "TraceSetAside";
  static constexpr Level level = Level::warning;
  std::string file;  // its new name
  std::string error;

  void fields(auto& add) const {
    add("file", file);
    add("error", error);
  }
};

struct TheoryViolated {
  static constexpr std::string_view name = "TheoryViolated";
  static constexpr Level level = Level::error;
  std::string axiom;
  std::int64_t line = 0;  // of the trace
  Instant violated;
  std::string blame;
  std::string error;

  void fields(auto& add) const {
    add("axiom", axiom);
    add("line", line);
    add("violatedAt", violated);
    add("blame", blame);
    add("error", error);
  }
};

struct ResourcesExhausted {
  static constexpr std::string_view name = "ResourcesExhausted";
  static constexpr Level level = Level::error;
  std::string error;
  Instant next_try;

  void fields(auto& add) const {
    add("error", error);
    add("nextTryAt", next_try);
  }
};

}  // namespace dutiful::event
