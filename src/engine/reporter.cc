#include "engine/reporter.h"

#include <algorithm>
#include <utility>

#include <dutiful/errors.h>

#include "core/message_of.h"
#include "files/private_file.h"

namespace dutiful {
namespace {

// RULES R1: a start that is later than this is reported.
constexpr std::chrono::minutes delay_max{1};

event::TaskOverridden::Settings settings_of(const TaskConfig& config) {
  return {.cron = config.cron, .retry_delay = config.retry_delay};
}

// The instant of a retry, unless there is none, or its delay leads to where no clock comes.
std::optional<Instant> coming(Instant retry_at) {
  return retry_at < clock_end ? happened(retry_at) : std::nullopt;
}

}  // namespace

Reporter::Reporter(TypedSink sink, Calendar calendar)
    : sink_(std::move(sink)), calendar_(std::move(calendar)) {}

void Reporter::initialization_started(Initialization kind, std::size_t total, Instant now) {
  if (kind == Initialization::again) {
    report(event::SchedulerReinitializationStarted{}, now);
  } else {
    report(event::SchedulerInitializationStarted{static_cast<std::int64_t>(total)}, now);
  }
}

void Reporter::initialization_completed(Initialization kind, const Plan& plan, Instant now) {
  if (!sink_) return;
  gaps_reported_ = now;
  for (const TaskRecord& removed : plan.removed) {
    report(event::TaskRemoved{.task = removed.config.name,
                              .last_execution = happened(removed.progress.last_attempt)},
           now);
  }
  std::int64_t scheduled = 0;
  for (const PlannedTask& task : plan.tasks) {
    report_task(task, now);
    if (!task.schedule.never_matches()) ++scheduled;
  }
  if (kind == Initialization::again) {
    report(event::SchedulerReinitializationCompleted{}, now);
  } else {
    const auto total = static_cast<std::int64_t>(plan.tasks.size());
    report(
        event::SchedulerInitializationCompleted{
            .registrations = total, .scheduled = scheduled, .skipped = total - scheduled},
        now);
  }
  const bool polls = !plan.tasks.empty();
  if (polls == std::exchange(polling_, polls)) return;
  if (polls) {
    report(event::PollingStarted{}, now);
  } else {
    report(event::PollingStopped{}, now);
  }
}

void Reporter::report_task(const PlannedTask& task, Instant now) {
  const std::string& name = task.config.name;
  const std::string& cron = task.config.cron;
  const Duration retry_delay = task.config.retry_delay;
  switch (task.classification) {
    case Classification::added:
      report(event::TaskAdded{.task = name, .cron = cron, .retry_delay = retry_delay}, now);
      break;
    case Classification::preserved:
      report(event::TaskPreserved{.task = name}, now);
      break;
    case Classification::overridden:
      report(event::TaskOverridden{.task = name,
                                   .before = settings_of(task.before->config),
                                   .after = settings_of(task.config)},
             now);
      break;
  }
  if (task.orphaned) {
    report(event::TaskOrphaned{.task = name,
                               .last_execution = task.progress.last_attempt,
                               .scheduler = task.before->scheduler},
           now);
  }
  if (task.corrected_from != no_instant) clock_corrected(name, task.corrected_from, now);
  if (task.schedule.never_matches()) {
    report(event::TaskNeverDue{.task = name, .cron = cron}, now);
    report(event::TaskSkipped{.task = name, .reason = "it is never due"}, now);
  } else {
    report(event::TaskScheduled{.task = name, .cron = cron, .retry_delay = retry_delay}, now);
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
  report(event::SchedulerInitializationFailed{message_of(error)}, now);
}

void Reporter::access_refused(const std::exception_ptr& error, Instant now) {
  if (!sink_ || !error) return;
  try {
    std::rethrow_exception(error);
  } catch (const StateHeldError& held) {
    report(
        event::AccessRefused{
            .what = held.state(), .reason = "the state is in use", .who = held.holder()},
        now);
  } catch (const FileRefused& file) {
    report(event::AccessRefused{.what = file.path(), .reason = file.reason(), .who = file.who()},
           now);
  } catch (const Error& other) {
    access_refused(other.cause(), now);
  } catch (...) {
    // No other error is about access.
  }
}

void Reporter::stop_requested(Instant now) {
  report(event::SchedulerStopRequested{}, now);
  if (polling_) report(event::PollingStopRequested{}, now);
}

void Reporter::stopped(Instant now) {
  if (std::exchange(polling_, false)) report(event::PollingStopped{}, now);
  report(event::SchedulerStopped{}, now);
}

void Reporter::poll_started(std::size_t tasks, Instant now) {
  report(event::PollStarted{.time = now, .tasks = static_cast<std::int64_t>(tasks)}, now);
}

void Reporter::poll_completed(std::size_t executed, Duration duration, Instant now) {
  report(
      event::PollCompleted{
          .time = now, .started = static_cast<std::int64_t>(executed), .duration = duration},
      now);
}

void Reporter::run_started(const Start& start,
                           const CronExpression& cron,
                           const PulseFates& served) {
  if (!sink_) return;
  const std::string& name = start.name;
  const bool is_retry = start.reason == Reason::retry;
  if (start.preempts_retry) {
    report(event::TaskRetryPreempted{.task = name, .reason = "a newer occurrence is due"},
           start.at);
  }
  if (is_retry) {
    report(event::TaskRetryStarted{.task = name, .retries = start.retries}, start.at);
  }
  report(event::TaskRunStarted{.task = name,
                               .scheduled = start.scheduled,
                               .actual = start.at,
                               .reason = start.reason,
                               .attempt = start.attempt,
                               .is_retry = is_retry,
                               .is_repeated_minute = in_repeated_minute(start),
                               .missed = missed_count(start, cron),
                               .served = served},
         start.at);

  const Duration delay = start.at - start.owed_since;
  if (delay > delay_max) {
    report(event::SchedulingDelayed{.task = name, .due = start.owed_since, .delay = delay},
           start.at);
  }
}

// Whether the scheduled minute is the second occurrence of a repeated one (T4).
bool Reporter::in_repeated_minute(const Start& start) const {
  if (start.reason != Reason::cron && start.reason != Reason::boot) return false;
  const std::chrono::local_time<Duration> local{
      (start.scheduled + calendar_.zone().offset_at(start.scheduled)).time_since_epoch()};
  const Zone::Reading reading = calendar_.zone().read(local);
  const auto* repeated = std::get_if<Zone::Repeated>(&reading);
  return repeated != nullptr && repeated->second == start.scheduled;
}

// The pulses that a start serves, without the one that scheduledTime names (T6, V). The instant of
// a retry is rarely a pulse, and the pulses of an orphan and a boot run are already served.
std::int64_t Reporter::missed_count(const Start& start, const CronExpression& cron) const {
  const std::int64_t served = calendar_.count(cron, start.served_before, start.served_until);
  if (start.scheduled <= start.served_before || start.scheduled > start.served_until) return served;
  return served - calendar_.count(cron, start.scheduled - Duration{1}, start.scheduled);
}

void Reporter::run_ended(const End& end) {
  if (!sink_) return;
  const Ending& ending = end.ending;
  if (ending.outcome == Outcome::success) {
    return report(event::TaskRunCompleted{.task = end.name,
                                          .duration = ending.duration,
                                          .reason = ending.reason,
                                          .attempt = ending.attempt,
                                          .process = ending.process.process,
                                          .exit_status = ending.process.exit_status,
                                          .signal = ending.process.signal},
                  end.at);
  }
  report(event::TaskRunFailed{.task = end.name,
                              .duration = ending.duration,
                              .error = ending.error,
                              .next_retry = coming(end.retry_at),
                              .reason = ending.reason,
                              .attempt = ending.attempt,
                              .process = ending.process.process,
                              .exit_status = ending.process.exit_status,
                              .signal = ending.process.signal},
         end.at);
}

void Reporter::clock_corrected(const std::string& name, Instant persisted, Instant now) {
  report(event::ClockCorrected{.task = name, .persisted = persisted}, now);
  gaps_reported_ = std::min(gaps_reported_, now);  // they will occur again
}

void Reporter::gaps(const Core& core, Instant now) {
  if (!sink_ || now <= gaps_reported_) return;
  for (const Calendar::Gap& gap : calendar_.gaps(std::exchange(gaps_reported_, now), now)) {
    core.for_each_registered([&](const Core::Task& task) {
      const CronExpression& cron = core.cron(task);
      // Once for each civil day that the gap touches.
      for (CivilMinute from = gap.begin; from < gap.end;) {
        const auto skipped = cron.find_at_or_after(from);
        if (!skipped || *skipped >= gap.end) break;
        report(event::DueSkipped{.task = task.name, .scheduled = *skipped}, gap.at);
        from = std::chrono::floor<std::chrono::days>(*skipped) + std::chrono::days{1};
      }
    });
  }
}

void Reporter::store_failed(const std::exception_ptr& error, Instant next_try, Instant now) {
  if (!sink_) return;
  report(event::StoreFailed{.error = message_of(error), .next_try = next_try}, now);
}

}  // namespace dutiful
