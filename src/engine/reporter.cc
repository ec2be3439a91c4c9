#include "engine/reporter.h"

#include <algorithm>
#include <new>
#include <utility>

#include <dutiful/errors.h>

#include "core/message_of.h"
#include "files/private_file.h"
#include "time/iso8601.h"

namespace dutiful {
namespace {

// RULES R1: later than this is worth a warning.
constexpr std::chrono::minutes delay_max{1};

std::string time_text(Instant instant) {
  return format_utc(into_clock_range(instant));
}

void add(std::vector<EventField>& fields, std::string_view name, EventField::Value value) {
  EventField field{name, std::move(value)};
  fields.push_back(std::move(field));
}

std::vector<EventField> state_of(const TaskConfig& config) {
  return {{"cronExpression", config.cron}, {"retryDelayMs", config.retry_delay.count()}};
}

}  // namespace

Reporter::Reporter(EventSink sink, Calendar calendar)
    : sink_(std::move(sink)), calendar_(std::move(calendar)) {}

void Reporter::tell(std::string_view name,
                    Level level,
                    Instant at,
                    std::vector<EventField> fields) {
  if (!sink_) return;
  try {
    sink_({.name = name, .level = level, .at = into_clock_range(at), .fields = std::move(fields)});
  } catch (...) {
    // It was asked not to. What it should have told is lost; the run it was about is not.
  }
}

void Reporter::initialization_started(Initialization kind, std::size_t total, Instant now) {
  if (kind == Initialization::again) {
    tell("SchedulerReinitializationStarted", Level::debug, now, {});
  } else {
    tell("SchedulerInitializationStarted",
         Level::debug,
         now,
         {{"totalRegistrations", static_cast<std::int64_t>(total)}});
  }
}

void Reporter::initialization_completed(Initialization kind, const Plan& plan, Instant now) {
  if (!sink_) return;
  gaps_told_ = now;
  for (const TaskRecord& removed : plan.removed) {
    std::vector<EventField> fields{{"taskName", removed.config.name}};
    if (const Instant last = removed.progress.last_attempt; last != no_instant) {
      add(fields, "lastExecutionTime", time_text(last));
    }
    tell("TaskRemoved", Level::info, now, std::move(fields));
  }
  std::int64_t scheduled = 0;
  for (const PlannedTask& task : plan.tasks) {
    tell_task(task, now);
    if (!task.schedule.never_matches()) ++scheduled;
  }
  if (kind == Initialization::again) {
    tell("SchedulerReinitializationCompleted", Level::debug, now, {});
  } else {
    const auto total = static_cast<std::int64_t>(plan.tasks.size());
    tell("SchedulerInitializationCompleted",
         Level::debug,
         now,
         {{"totalRegistrations", total},
          {"scheduledCount", scheduled},
          {"skippedCount", total - scheduled}});
  }
  const bool polls = !plan.tasks.empty();
  if (polls != std::exchange(polling_, polls)) {
    tell(polls ? "PollingStarted" : "PollingStopped", Level::debug, now, {});
  }
}

void Reporter::tell_task(const PlannedTask& task, Instant now) {
  const EventField name{"taskName", task.config.name};
  const EventField cron{"cronExpression", task.config.cron};
  const EventField delay{"retryDelayMs", task.config.retry_delay.count()};
  switch (task.classification) {
    case Classification::added:
      tell("TaskAdded", Level::info, now, {name, cron, delay});
      break;
    case Classification::preserved:
      tell("TaskPreserved", Level::debug, now, {name});
      break;
    case Classification::overridden: {
      const bool other_cron = task.before->config.cron != task.config.cron;
      const bool other_delay = task.before->config.retry_delay != task.config.retry_delay;
      const std::string change = other_cron && other_delay ? "cronExpression,retryDelay"
                                 : other_cron              ? "cronExpression"
                                                           : "retryDelay";
      tell("TaskOverridden",
           Level::info,
           now,
           {name,
            {"changeType", change},
            {"oldState", state_of(task.before->config)},
            {"newState", state_of(task.config)}});
      break;
    }
  }
  if (task.orphaned) {
    tell("TaskOrphaned",
         Level::warning,
         now,
         {name,
          {"lastExecutionTime", time_text(task.progress.last_attempt)},
          {"schedulerIdentifier", task.before->scheduler}});
  }
  if (task.corrected_from != no_instant) {
    clock_corrected(task.config.name, task.corrected_from, now);
  }
  if (task.schedule.never_matches()) {
    tell("TaskNeverDue", Level::warning, now, {name, cron});
    tell("TaskSkipped", Level::debug, now, {name, {"reason", std::string{"it is never due"}}});
  } else {
    tell("TaskScheduled", Level::debug, now, {name, cron, delay});
  }
}

void Reporter::initialization_failed(const std::exception_ptr& error, Instant now) {
  if (!sink_) return;
  try {
    std::rethrow_exception(error);
  } catch (const SchedulerAlreadyActiveError&) {
    return;
  } catch (...) {
    access_refused(error, now);
  }
  tell("SchedulerInitializationFailed", Level::warning, now, {{"error", message_of(error)}});
}

void Reporter::access_refused(const std::exception_ptr& error, Instant now) {
  if (!sink_ || !error) return;
  const auto refused =
      [&](const std::string& what, const std::string& why, const std::string& who) {
        tell("AccessRefused", Level::warning, now, {{"what", what}, {"reason", why}, {"who", who}});
      };
  try {
    std::rethrow_exception(error);
  } catch (const StateHeldError& held) {
    refused(held.state(), "the state is in use", held.holder());
  } catch (const FileRefused& file) {
    refused(file.path(), file.reason(), file.who());
  } catch (const Error& other) {
    access_refused(other.cause(), now);
  } catch (...) {
    // Of others there is no more to say than that it failed.
  }
}

void Reporter::stop_requested(Instant now) {
  tell("SchedulerStopRequested", Level::info, now, {});
  if (polling_) tell("PollingStopRequested", Level::debug, now, {});
}

void Reporter::stopped(Instant now) {
  if (std::exchange(polling_, false)) tell("PollingStopped", Level::debug, now, {});
  tell("SchedulerStopped", Level::info, now, {});
}

void Reporter::poll_started(std::size_t tasks, Instant now) {
  if (!sink_) return;
  tell("PollStarted",
       Level::debug,
       now,
       {{"pollTime", time_text(now)}, {"scheduledTaskCount", static_cast<std::int64_t>(tasks)}});
}

void Reporter::poll_completed(std::size_t executed, Duration duration, Instant now) {
  if (!sink_) return;
  const auto count = static_cast<std::int64_t>(executed);
  tell("PollCompleted",
       Level::debug,
       now,
       {{"pollTime", time_text(now)},
        {"tasksEvaluated", count},
        {"tasksExecuted", count},
        {"duration", duration.count()}});
}

void Reporter::run_started(const Start& start, const Core::Task& task, const CronExpression& cron) {
  if (!sink_) return;
  const EventField name{"taskName", task.name};
  if (start.preempts_retry) {
    tell("TaskRetryPreempted",
         Level::info,
         start.at,
         {name, {"reason", std::string{"a newer occurrence is due"}}});
  }
  if (start.reason == Reason::retry) {
    tell("TaskRetryStarted",
         Level::info,
         start.at,
         {name, {"retryCount", std::int64_t{task.progress.retries}}});
  }

  std::vector<EventField> fields{
      name, {"scheduledTime", time_text(start.scheduled)}, {"actualTime", time_text(start.at)}};
  if (start.reason == Reason::retry) add(fields, "isRetry", true);
  if (start.reason == Reason::cron || start.reason == Reason::boot) {
    const std::chrono::local_time<Duration> local{
        (start.scheduled + calendar_.zone().offset_at(start.scheduled)).time_since_epoch()};
    const Zone::Reading reading = calendar_.zone().read(local);
    const auto* repeated = std::get_if<Zone::Repeated>(&reading);
    if (repeated != nullptr && repeated->second == start.scheduled) {
      add(fields, "isRepeatedMinute", true);
    }
  }
  const std::int64_t missed = missed_count(start, task.progress.served_until, cron);
  if (missed > 0) add(fields, "missedCount", missed);
  tell("TaskRunStarted", Level::info, start.at, std::move(fields));

  // An interrupted run is due again from when it started, a new task from when it came.
  const Instant due = start.reason == Reason::orphan ? start.before.last_attempt
                      : start.reason == Reason::boot ? start.before.first_coming
                                                     : start.scheduled;
  if (start.at - due > delay_max) {
    tell("SchedulingDelayed",
         Level::warning,
         start.at,
         {name, {"dueTime", time_text(due)}, {"delay", (start.at - due).count()}});
  }
}

// The pulses that a start serves, less the one that scheduledTime names (T6, V). The instant of a
// retry is seldom a pulse, and those of an orphan and a boot are served already.
std::int64_t Reporter::missed_count(const Start& start,
                                    Instant served_until,
                                    const CronExpression& cron) const {
  const Instant served_before = start.before.served_until;
  const std::int64_t served = calendar_.count(cron, served_before, served_until);
  if (start.scheduled <= served_before || start.scheduled > served_until) return served;
  return served - calendar_.count(cron, start.scheduled - Duration{1}, start.scheduled);
}

void Reporter::run_ended(const std::string& name,
                         const Ending& ending,
                         const TaskProgress& progress,
                         Instant now) {
  if (!sink_) return;
  const bool success = ending.outcome == Outcome::success;
  std::vector<EventField> fields{
      {"taskName", name}, {"duration", ending.duration.count()}, {"success", success}};
  if (success) return tell("TaskRunCompleted", Level::info, now, std::move(fields));
  add(fields, "error", ending.error);
  if (progress.retry_at != no_instant) add(fields, "nextRetryAt", time_text(progress.retry_at));
  tell("TaskRunFailed", Level::warning, now, std::move(fields));
}

void Reporter::clock_corrected(const std::string& name, Instant persisted, Instant now) {
  tell("ClockCorrected",
       Level::warning,
       now,
       {{"taskName", name}, {"persistedTime", time_text(persisted)}});
  gaps_told_ = std::min(gaps_told_, now);  // they come again
}

void Reporter::clock_out_of_range(const std::string& error, Instant now) {
  tell("ClockOutOfRange", Level::error, now, {{"error", error}});
}

void Reporter::gaps(const Core& core, Instant now) {
  if (!sink_ || now <= gaps_told_) return;
  for (const Calendar::Gap& gap : calendar_.gaps(std::exchange(gaps_told_, now), now)) {
    core.for_each_registered([&](const Core::Task& task) {
      const CronExpression& cron = core.cron(task);
      // Once for each civil day that the gap touches.
      for (CivilMinute from = gap.begin; from < gap.end;) {
        const auto skipped = cron.find_at_or_after(from);
        if (!skipped || *skipped >= gap.end) break;
        tell("DueSkipped",
             Level::info,
             gap.at,
             {{"taskName", task.name},
              {"scheduledTime", format_minute(*skipped)},
              {"reason", std::string{"gap"}}});
        from = std::chrono::floor<std::chrono::days>(*skipped) + std::chrono::days{1};
      }
    });
  }
}

void Reporter::exhausted(const std::string& error, Instant next_try, Instant now) {
  tell("ResourcesExhausted",
       Level::error,
       now,
       {{"error", error}, {"nextTryAt", time_text(next_try)}});
}

void Reporter::store_failed(const std::exception_ptr& error, Instant next_try, Instant now) {
  tell("StoreFailed",
       Level::error,
       now,
       {{"error", message_of(error)}, {"nextTryAt", time_text(next_try)}});
}

}  // namespace dutiful
