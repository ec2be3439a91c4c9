#include "daemon/event_text.h"

#include <algorithm>

#include "daemon/event_fields.h"
#include "daemon/local_time.h"
#include "text/quote.h"

namespace dutiful {
namespace {

// The fields of an event, by name.
class Fields {
 public:
  Fields(const Event& event, const Zone& zone) : event_(event), zone_(zone) {}

  [[nodiscard]] bool has(std::string_view name) const {
    return std::ranges::any_of(event_.fields,
                               [&](const EventField& field) { return field.name == name; });
  }

  [[nodiscard]] std::string text(std::string_view name) const {
    const auto* text = find_field<std::string>(event_, name);
    return text == nullptr ? "" : escape(*text);
  }
  // A text that quotes whatever is not ours already.
  [[nodiscard]] std::string message(std::string_view name) const {
    const auto* text = find_field<std::string>(event_, name);
    return text == nullptr ? "" : on_one_line(*text);
  }
  [[nodiscard]] std::int64_t number(std::string_view name) const {
    const auto* number = find_field<std::int64_t>(event_, name);
    return number == nullptr ? 0 : *number;
  }
  [[nodiscard]] std::string duration(std::string_view name) const {
    return duration_text(Duration{number(name)});
  }
  // The time of day; with the date where that is not the event's own.
  [[nodiscard]] std::string time(std::string_view name) const {
    const auto time = find_time(event_, name);
    if (!time) return text(name);
    const std::string local = local_text(*time, zone_);
    const std::string now = local_text(event_.at, zone_);
    return local.substr(0, 10) == now.substr(0, 10) ? local.substr(11) : local;
  }

 private:
  const Event& event_;
  const Zone& zone_;
};

std::string counted(std::int64_t number, const char* one, const char* several) {
  return std::to_string(number) + ' ' + (number == 1 ? one : several);
}

std::string started_text(const Fields& fields) {
  std::string text = fields.has("isRetry") ? "started again" : "started";
  text += ", due " + fields.time("scheduledTime");
  if (fields.has("isRepeatedMinute")) text += " (the second time, as the clocks were set back)";
  if (fields.has("missedCount")) {
    text +=
        ", in place of " + std::to_string(fields.number("missedCount")) + " more that were missed";
  }
  return text;
}

std::string lost_text(const Fields& fields) {
  const std::int64_t lost = fields.number("lost");
  return lost == 0 ? "" : "; " + counted(lost, "run is", "runs are") + " missing from it";
}

std::string history_failure_text(const Fields& fields) {
  std::string text = lost_text(fields);
  if (const std::int64_t waiting = fields.number("waiting"); waiting > 0) {
    text += "; " + counted(waiting, "run is", "runs are") + " kept in memory";
  }
  if (fields.has("nextTryAt")) text += "; next try at " + fields.time("nextTryAt");
  return text;
}

// "changed: run, user, timeout (1 h instead of 30 min)"
std::string changed_text(const Fields& fields) {
  std::string text = "changed: ";
  for (const char c : fields.text("changeType")) text.append(c == ',' ? ", " : std::string{c});
  if (!fields.has("newTimeoutMs")) return text;
  const auto limit = [&](std::string_view name) {
    return fields.number(name) == 0 ? "none" : fields.duration(name);
  };
  return text + " (" + limit("newTimeoutMs") + " instead of " + limit("oldTimeoutMs") + ')';
}

// With its place, where it has one.
std::string warning_text(const Fields& fields) {
  std::string text = fields.message("file");
  for (const char* name : {"line", "column"}) {
    if (fields.has(name)) text += ':' + std::to_string(fields.number(name));
  }
  return text + ": warning: " + fields.message("warning");
}

// Of what a scheduler does as a whole; empty where that is another event.
std::string said_of_scheduler(std::string_view name, const Fields& fields) {
  if (name == "SchedulerInitializationStarted") {
    return "starting with " + counted(fields.number("totalRegistrations"), "task", "tasks");
  }
  if (name == "SchedulerInitializationCompleted") {
    const auto never = fields.number("skippedCount");
    return "started with " + counted(fields.number("scheduledCount"), "task", "tasks") +
           (never == 0 ? "" : "; " + std::to_string(never) + " more never due");
  }
  if (name == "SchedulerInitializationFailed")
    return "the tasks cannot be loaded: " + fields.message("error");
  if (name == "SchedulerReinitializationStarted") return "loading the tasks again";
  if (name == "SchedulerReinitializationCompleted") return "loaded the tasks again";
  if (name == "SchedulerStopRequested") return "stopping: nothing is started any more";
  if (name == "SchedulerStopped") return "stopped";
  if (name == "PollingStarted") return "waiting for tasks to be due";
  if (name == "PollingStopRequested") return "about to stop waiting for tasks";
  if (name == "PollingStopped") return "no longer waiting for tasks";
  if (name == "PollStarted") {
    return "looking which of " + counted(fields.number("scheduledTaskCount"), "task", "tasks") +
           " to start";
  }
  if (name == "PollCompleted") {
    return "started " + counted(fields.number("tasksExecuted"), "task", "tasks") + " in " +
           fields.duration("duration");
  }
  return "";
}

// Of what is wrong outside of the tasks; empty where that is another event.
std::string said_of_trouble(std::string_view name, const Fields& fields) {
  if (name == "StoreFailed" || name == "ResourcesExhausted") {
    return fields.message("error") + "; next try at " + fields.time("nextTryAt");
  }
  if (name == "TraceSetAside") {
    return fields.message("error") + "; renamed to " + fields.text("file") + "; a new one begins";
  }
  if (name == "AccessRefused") {
    return "access to " + fields.text("what") + " refused: " + fields.text("reason") + " (" +
           fields.text("who") + ')';
  }
  if (name == "ClockOutOfRange")
    return fields.message("error") + "; nothing starts until it is back in range";
  if (name == "TraceFailed") return "the trace cannot be written: " + fields.message("error");
  if (name == "TheoryViolated") {
    return fields.text("axiom") + " violated at line " + std::to_string(fields.number("line")) +
           " of the trace (" + fields.time("violatedAt") + ", blame: " + fields.text("blame") +
           "): " + fields.message("error");
  }
  if (name == "TaskFileWarning") return warning_text(fields);
  if (name == "TaskFileRejected") return fields.message("error");
  if (name == "HistoryFailed") return fields.message("error") + history_failure_text(fields);
  if (name == "HistoryRecovered") {
    return "the history can be written again: " +
           counted(fields.number("written"), "run was", "runs were") + " written" +
           lost_text(fields);
  }
  if (name == "LeftoversEnded") {
    return "ended what a daemon before had left: " +
           counted(fields.number("count"), "process", "processes");
  }
  if (name == "LogLinesDropped") {
    return counted(fields.number("count"), "line was", "lines were") +
           " left out here: nobody read them";
  }
  return "";
}

// What people would say. Empty: just the name of the event and its fields.
std::string said(std::string_view name, const Fields& fields) {
  if (std::string text = said_of_scheduler(name, fields); !text.empty()) return text;
  if (std::string text = said_of_trouble(name, fields); !text.empty()) return text;
  if (name == "TaskRunStarted") return started_text(fields);
  if (name == "TaskRunCompleted") return "succeeded in " + fields.duration("duration");
  if (name == "TaskRunFailed") {
    return "failed after " + fields.duration("duration") + ": " + fields.text("error") +
           (fields.has("nextRetryAt") ? "; retry at " + fields.time("nextRetryAt") : "");
  }
  if (name == "TaskOutput") return "| " + fields.text("text");
  if (name == "TaskAdded") return "added, due at " + fields.text("cronExpression");
  if (name == "TaskPreserved") return "unchanged";
  if (name == "TaskOverridden" || name == "TaskChanged") return changed_text(fields);
  if (name == "TaskRemoved") return "removed";
  if (name == "TaskOrphaned") {
    return "its run of " + fields.time("lastExecutionTime") +
           " has no recorded result; starting it again";
  }
  if (name == "TaskNeverDue") return "is never due: " + fields.text("cronExpression");
  if (name == "TaskScheduled") return "scheduled at " + fields.text("cronExpression");
  if (name == "TaskSkipped") return "not scheduled: " + fields.text("reason");
  if (name == "ClockCorrected") {
    return "was last recorded at " + fields.time("persistedTime") +
           ", which is in the future: the clock was set back, and it is due again from now on";
  }
  if (name == "TaskRetryStarted") {
    return "is tried again, " + counted(fields.number("retryCount"), "time", "times") + " by now";
  }
  if (name == "TaskRetryPreempted") return "need not be retried: " + fields.text("reason");
  if (name == "DueSkipped") {
    return "is not due at " + fields.text("scheduledTime") + ": the clocks jump over it";
  }
  if (name == "SchedulingDelayed") return "starts late by " + fields.duration("delay");
  if (name == "TaskFileLoaded") {
    return fields.text("file") + ": " + counted(fields.number("tasks"), "task", "tasks") +
           ", state in " + fields.text("state");
  }
  if (name == "CommandsEnding")
    return "commands that still run are ended: " + fields.text("reason");
  return "";
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
  // The least one of all has no counterpart.
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

std::string to_text(const Event& event, const Zone& zone, Colour colour) {
  const Fields fields{event, zone};
  std::string text = said(event.name, fields);
  if (text.empty()) {
    text = std::string{event.name};
    for (const EventField& field : event.fields) {
      if (field.name != "taskName" && std::holds_alternative<std::string>(field.value)) {
        text += ' ' + std::string{field.name} + '=' + fields.text(field.name);
      }
    }
  }
  const std::string name = fields.has("taskName") ? fields.text("taskName") : "dutiful";
  const std::string time = local_text(event.at, zone);
  if (colour == Colour::none) return time + "  " + name + "  " + text;
  return "\x1b[2m" + time + "\x1b[0m  \x1b[1m" + name + "\x1b[0m  " + colour_of(event.level) +
         text + "\x1b[0m";
}

}  // namespace dutiful
