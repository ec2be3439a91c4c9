#include "daemon/event_text.h"

#include <algorithm>

#include "daemon/event_fields.h"
#include "text/quote.h"
#include "time/iso8601.h"

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

// What people would say. Empty: just the name of the event and its fields.
std::string said(std::string_view name, const Fields& fields) {
  if (name == "TaskRunStarted") return started_text(fields);
  if (name == "TaskRunCompleted") return "succeeded in " + fields.duration("duration");
  if (name == "TaskRunFailed") {
    return "failed after " + fields.duration("duration") + ": " + fields.text("error") +
           (fields.has("nextRetryAt") ? "; retry at " + fields.time("nextRetryAt") : "");
  }
  if (name == "TaskOutput") return "| " + fields.text("text");
  if (name == "TaskAdded") return "added, due at " + fields.text("cronExpression");
  if (name == "TaskOverridden") return "changed: " + fields.text("changeType");
  if (name == "TaskRemoved") return "removed";
  if (name == "TaskOrphaned") {
    return "no result was recorded of its run of " + fields.time("lastExecutionTime") +
           ", when the daemon ended; starts again";
  }
  if (name == "TaskNeverDue") return "is never due: " + fields.text("cronExpression");
  if (name == "TaskRetryStarted") {
    return "is tried again, " + counted(fields.number("retryCount"), "time", "times") + " by now";
  }
  if (name == "TaskRetryPreempted") return "need not be retried: " + fields.text("reason");
  if (name == "DueSkipped") {
    return "is not due at " + fields.text("scheduledTime") + ": the clocks jump over it";
  }
  if (name == "SchedulingDelayed") return "starts late by " + fields.duration("delay");
  if (name == "SchedulerStopRequested") return "stopping: nothing is started any more";
  if (name == "SchedulerStopped") return "stopped";
  if (name == "StoreFailed") {
    return fields.message("error") + "; next try at " + fields.time("nextTryAt");
  }
  if (name == "AccessRefused") {
    return "access to " + fields.text("what") + " refused: " + fields.text("reason") + " (" +
           fields.text("who") + ')';
  }
  if (name == "ClockOutOfRange")
    return fields.message("error") + "; nothing starts until it is back in range";
  if (name == "TaskFileLoaded") {
    return fields.text("file") + ": " + counted(fields.number("tasks"), "task", "tasks") +
           ", state in " + fields.text("state");
  }
  if (name == "TaskFileRejected" || name == "HistoryFailed") return fields.message("error");
  if (name == "LeftoversEnded") {
    return "ended what a daemon before had left: " +
           counted(fields.number("count"), "process", "processes");
  }
  if (name == "LogLinesDropped") {
    return counted(fields.number("count"), "line was", "lines were") +
           " left out here: nobody read them";
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

std::string local_text(Instant instant, const Zone& zone) {
  std::string text = format_second(instant, zone.offset_at(instant)).substr(0, 19);
  text[10] = ' ';
  return text;
}

std::string duration_text(Duration duration) {
  using namespace std::chrono;
  const auto both = [](auto large, const char* one, auto small, const char* other) {
    std::string text = std::to_string(large.count()) + one;
    if (small.count() > 0) text += ' ' + std::to_string(small.count()) + other;
    return text;
  };
  if (duration < Duration::zero()) return '-' + duration_text(-duration);
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
