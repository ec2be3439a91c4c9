#include "daemon/event_text.h"

#include <algorithm>
#include <optional>

#include "daemon/local_time.h"
#include "text/quote.h"
#include "time/iso8601.h"

namespace dutiful {
namespace {

std::string counted(std::int64_t number, const char* one, const char* several) {
  return std::to_string(number) + ' ' + (number == 1 ? one : several);
}

// The text of each event. Texts from outside are escaped. An error is a message of dutiful, which
// has already quoted them (RULES V, X4).
class Sentences {
 public:
  Sentences(Instant at, const Zone& zone) : at_(at), zone_(zone) {}

  // The scheduler as a whole.
  std::string operator()(const event::SchedulerInitializationStarted& event) const {
    return "loading " + counted(event.registrations, "task", "tasks");
  }
  std::string operator()(const event::SchedulerInitializationCompleted& event) const {
    std::string text = "loaded " + counted(event.registrations, "task", "tasks");
    if (event.skipped > 0) text += ", " + std::to_string(event.skipped) + " of them never due";
    return text;
  }
  std::string operator()(const event::SchedulerInitializationFailed& event) const {
    return "cannot load the tasks: " + on_one_line(event.error);
  }
  std::string operator()(const event::SchedulerReinitializationStarted& /*event*/) const {
    return "reloading the tasks";
  }
  std::string operator()(const event::SchedulerReinitializationCompleted& /*event*/) const {
    return "reloaded the tasks";
  }
  std::string operator()(const event::SchedulerStopRequested& /*event*/) const {
    return "stopping; no more runs start, and a second signal ends the running commands";
  }
  std::string operator()(const event::SchedulerStopped& /*event*/) const { return "stopped"; }
  std::string operator()(const event::PollingStarted& /*event*/) const {
    return "waiting for tasks to become due";
  }
  std::string operator()(const event::PollingStopRequested& /*event*/) const {
    return "about to stop waiting for tasks";
  }
  std::string operator()(const event::PollingStopped& /*event*/) const {
    return "no longer waiting for tasks";
  }
  std::string operator()(const event::PollStarted& event) const {
    return "checking " + counted(event.tasks, "task", "tasks");
  }
  std::string operator()(const event::PollCompleted& event) const {
    return "started " + counted(event.started, "task", "tasks") + " in " +
           duration_text(event.duration);
  }

  // The tasks of a list that is loaded.
  std::string operator()(const event::TaskAdded& event) const {
    return "added, due at " + escape(event.cron);
  }
  std::string operator()(const event::TaskPreserved& /*event*/) const { return "unchanged"; }
  std::string operator()(const event::TaskOverridden& event) const {
    std::string text = "changed: ";
    if (event.before.cron != event.after.cron) {
      text +=
          "cron (" + escape(event.after.cron) + " instead of " + escape(event.before.cron) + ')';
      if (event.before.retry_delay != event.after.retry_delay) text += ", ";
    }
    if (event.before.retry_delay != event.after.retry_delay) {
      text += "retry (" + duration_text(event.after.retry_delay) + " instead of " +
              duration_text(event.before.retry_delay) + ')';
    }
    return text;
  }
  std::string operator()(const event::TaskChanged& event) const {
    std::string text = "changed: " + listed(event.keys);
    if (!event.timeouts) return text;
    const auto limit = [](Duration timeout) {
      return timeout == Duration::zero() ? "none" : duration_text(timeout);
    };
    return text + " (" + limit(event.timeouts->after) + " instead of " +
           limit(event.timeouts->before) + ')';
  }
  std::string operator()(const event::TaskRemoved& /*event*/) const { return "removed"; }
  std::string operator()(const event::TaskOrphaned& event) const {
    return "the run started at " + time(event.last_execution) + " was interrupted and is restarted";
  }
  std::string operator()(const event::TaskNeverDue& event) const {
    return "never due: " + escape(event.cron);
  }
  std::string operator()(const event::TaskScheduled& event) const {
    return "scheduled at " + escape(event.cron);
  }
  std::string operator()(const event::TaskSkipped& event) const {
    return "not scheduled: " + escape(event.reason);
  }

  // Runs.
  std::string operator()(const event::TaskRunStarted& event) const {
    std::string text = "started, due " + time(event.scheduled);
    if (event.is_repeated_minute) text += " (for the second time: the clocks were set back)";
    if (event.attempt > 1) text += " (attempt " + std::to_string(event.attempt) + ')';
    if (event.missed > 0) {
      text += "; also covers " + counted(event.missed, "missed run", "missed runs") +
              why_missed(event.served);
    }
    return text;
  }
  std::string operator()(const event::TaskRunCompleted& event) const {
    return "succeeded in " + duration_text(event.duration);
  }
  std::string operator()(const event::TaskRunFailed& event) const {
    return "failed after " + duration_text(event.duration) + ": " + escape(event.error) +
           which(event) + (event.next_retry ? "; retry at " + time(*event.next_retry) : "");
  }
  std::string operator()(const event::TaskRetryStarted& event) const {
    return "retry " + std::to_string(event.retries);
  }
  std::string operator()(const event::TaskRetryPreempted& event) const {
    return "retry cancelled: " + escape(event.reason);
  }
  std::string operator()(const event::DueSkipped& event) const {
    return "not run at " + format_minute(event.scheduled) + ": the clocks skip this time";
  }
  std::string operator()(const event::SchedulingDelayed& event) const {
    return "started " + duration_text(event.delay) + " late";
  }
  std::string operator()(const event::TaskOutput& event) const { return "| " + escape(event.text); }

  // Problems.
  std::string operator()(const event::ClockCorrected& event) const {
    return "last recorded at " + time(event.persisted) +
           ", which is in the future: the clock was set back, and due times count again from now";
  }
  std::string operator()(const event::ClockOutOfRange& event) const {
    return on_one_line(event.error) + "; nothing starts until it is back in range";
  }
  std::string operator()(const event::AccessRefused& event) const {
    return "access to " + escape(event.what) + " refused: " + escape(event.reason) + " (" +
           escape(event.who) + ')';
  }
  std::string operator()(const event::StoreCommitted& event) const {
    return "recorded " + counted(event.tasks, "task", "tasks") + " in " +
           duration_text(event.duration);
  }
  std::string operator()(const event::StoreFailed& event) const {
    return on_one_line(event.error) + next_try(event.next_try);
  }
  std::string operator()(const event::ResourcesExhausted& event) const {
    return on_one_line(event.error) + next_try(event.next_try);
  }
  std::string operator()(const event::TraceFailed& event) const {
    return "cannot write the trace: " + on_one_line(event.error);
  }
  std::string operator()(const event::TraceSetAside& event) const {
    return on_one_line(event.error) + "; renamed to " + escape(event.file) +
           ", and a new trace was started";
  }
  std::string operator()(const event::TheoryViolated& event) const {
    return escape(event.axiom) + " violated at line " + std::to_string(event.line) +
           " of the trace (" + time(event.violated) + ", blame: " + escape(event.blame) +
           "): " + on_one_line(event.error);
  }

  // The daemon.
  std::string operator()(const event::TaskFileLoaded& event) const {
    return on_one_line(event.file) + ": " + counted(event.tasks, "task", "tasks") + ", state in " +
           escape(event.state);
  }
  std::string operator()(const event::TaskFileRejected& event) const {
    return on_one_line(event.error);
  }
  std::string operator()(const event::TaskFileWarning& event) const {
    std::string text = on_one_line(event.file);
    for (const std::optional<std::int64_t>& place : {event.line, event.column}) {
      if (place) text += ':' + std::to_string(*place);
    }
    return text + ": warning: " + on_one_line(event.warning);
  }
  std::string operator()(const event::LeftoversEnded& event) const {
    return "killed " + counted(event.count, "process", "processes") +
           " left behind by the previous daemon";
  }
  std::string operator()(const event::CommandsEnding& event) const {
    return "terminating the commands that still run: " + escape(event.reason);
  }
  std::string operator()(const event::NotificationFailed& event) const {
    return escape(event.notification) + " failed: " + on_one_line(event.error);
  }
  std::string operator()(const event::NotificationsDropped& event) const {
    return counted(event.count, "notification", "notifications") +
           " dropped: too many were waiting, or the daemon stopped";
  }
  std::string operator()(const event::FailureCountsFailed& event) const {
    const std::string text = "cannot keep the failures in a row: " + on_one_line(event.error);
    return event.next_try ? text + next_try(*event.next_try) : text;
  }
  std::string operator()(const event::HistoryFailed& event) const {
    std::string text = on_one_line(event.error) + lost(event.lost);
    if (event.waiting > 0) {
      text += "; " + counted(event.waiting, "run is", "runs are") + " kept in memory";
    }
    return event.next_try ? text + next_try(*event.next_try) : text;
  }
  std::string operator()(const event::HistoryRecovered& event) const {
    return "the history is writable again: " + counted(event.written, "run", "runs") + " written" +
           lost(event.lost);
  }
  std::string operator()(const event::Listening& event) const {
    return "listening on " + escape(event.address);
  }
  std::string operator()(const event::LogLinesDropped& event) const {
    return counted(event.count, "line", "lines") + " dropped here: the log was not read in time";
  }

 private:
  // The time of day, with the date if it is not the date of the event.
  [[nodiscard]] std::string time(Instant instant) const {
    const std::string local = local_text(instant, zone_);
    const std::string now = local_text(at_, zone_);
    return local.substr(0, 10) == now.substr(0, 10) ? local.substr(11) : local;
  }
  [[nodiscard]] std::string next_try(Instant instant) const {
    return "; next try at " + time(instant);
  }
  // " (5 while it was running, 2 while no daemon ran)"
  static std::string why_missed(const PulseFates& served) {
    std::string text;
    const auto add = [&](std::int64_t pulses, const char* reason) {
      if (pulses == 0) return;
      text += (text.empty() ? " (" : ", ") + std::to_string(pulses) + ' ' + reason;
    };
    add(served.running, "while it was running");
    add(served.down, "while no daemon ran");
    add(served.asleep, "while the daemon was asleep or late");
    add(served.limit, "while too many commands ran at once");
    add(served.store, "while the state could not be written");
    add(served.retry, "because the retry came first");
    add(served.orphan, "because the restart came first");
    return text.empty() ? "" : text + ')';
  }
  // " (attempt 2, process 4711)", as far as it says something.
  static std::string which(const event::TaskRunFailed& event) {
    std::string text;
    if (event.attempt > 1) text = "attempt " + std::to_string(event.attempt);
    if (event.process) {
      text += (text.empty() ? "process " : ", process ") + std::to_string(*event.process);
    }
    return text.empty() ? "" : " (" + text + ')';
  }
  static std::string lost(std::int64_t count) {
    return count == 0 ? "" : "; " + counted(count, "run", "runs") + " lost";
  }
  // "run,user" -> "run, user"
  static std::string listed(std::string_view keys) {
    std::string text;
    for (const char c : escape(keys)) text.append(c == ',' ? ", " : std::string{c});
    return text;
  }

  Instant at_;
  const Zone& zone_;
};

// The task that an event is about, or the program itself.
std::string subject_of(const event::Any& what) {
  return std::visit(
      [](const auto& event) -> std::string {
        if constexpr (requires { event.task; }) {
          return escape(event.task);
        } else {
          return "dutiful";
        }
      },
      what);
}

const char* colour_of(Level level) {
  switch (level) {
    case Level::error:
      return "\x1b[31m";
    case Level::warning:
      return "\x1b[33m";
    default:
      return "";
  }
}

}  // namespace

std::string duration_text(Duration duration) {
  using namespace std::chrono;
  const auto both = [](auto large, const char* one, auto small, const char* other) {
    std::string text = std::to_string(large.count()) + one;
    if (small.count() > 0) text += ' ' + std::to_string(small.count()) + other;
    return text;
  };
  // The minimum has no positive counterpart.
  if (duration < Duration::zero())
    return '-' + duration_text(-std::max(duration, -Duration::max()));
  if (duration < 1s) return std::to_string(duration.count()) + " ms";
  if (duration < 1min) {
    const auto tenths = duration.count() / 100;
    return std::to_string(tenths / 10) + '.' + std::to_string(tenths % 10) + " s";
  }
  if (duration < 1h) {
    const auto whole = floor<minutes>(duration);
    return both(whole, " min", floor<seconds>(duration - whole), " s");
  }
  if (duration < days{1}) {
    const auto whole = floor<hours>(duration);
    return both(whole, " h", floor<minutes>(duration - whole), " min");
  }
  const auto whole = floor<days>(duration);
  return both(whole, " d", floor<hours>(duration - whole), " h");
}

std::string to_text(const TypedEvent& event, const Zone& zone, Colour colour) {
  const std::string subject = subject_of(event.what);
  const std::string text = std::visit(Sentences{event.at, zone}, event.what);
  const std::string time = local_text(event.at, zone);
  if (colour == Colour::none) return time + "  " + subject + "  " + text;
  return "\x1b[2m" + time + "\x1b[0m  \x1b[1m" + subject + "\x1b[0m  " +
         colour_of(level_of(event)) + text + "\x1b[0m";
}

}  // namespace dutiful
