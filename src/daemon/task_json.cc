#include "daemon/task_json.h"

#include "text/json_object.h"
#include "time/iso8601.h"

namespace dutiful {
namespace {

void add_time(JsonObject& object, std::string_view name, const std::optional<Instant>& at) {
  if (at) {
    std::string& text = object.begin(name);
    text += '"';
    append_utc(text, *at);
    text += '"';
  } else {
    object.add(name, nullptr);
  }
}

void append_owed(std::string& text, const TaskStatus::Owed& owed) {
  JsonObject object{text};
  object.add("reason", name_of(owed.reason));
  add_time(object, "since", owed.since);
  object.add("pulses", owed.pulses);
  object.add("waitsFor", name_of(owed.waits_for));
}

void append_texts(std::string& text, const std::vector<std::string>& values) {
  text += '[';
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i > 0) text += ',';
    append_json_string(text, values[i]);
  }
  text += ']';
}

// A command, or null if there is none.
void add_command(JsonObject& object,
                 std::string_view name,
                 const std::vector<std::string>& arguments) {
  std::string& text = object.begin(name);
  if (arguments.empty()) {
    text += "null";
  } else {
    append_texts(text, arguments);
  }
}

std::optional<std::string> unless_empty(const std::string& value) {
  return value.empty() ? std::nullopt : std::optional{value};
}

}  // namespace

const std::string& EnglishTexts::of(const TaskStatus& task) {
  constexpr std::size_t kept_max = 1024;
  if (const auto found = texts_.find(task.cron); found != texts_.end()) return found->second;
  if (texts_.size() >= kept_max) texts_.clear();
  return texts_.emplace(task.cron, task.english()).first->second;
}

void append_json(std::string& text,
                 const TaskStatus& task,
                 const RecentRuns& recent,
                 EnglishTexts& english) {
  JsonObject object{text};
  object.add("taskName", task.name);
  object.add("cronExpression", task.cron);
  object.add("english", english.of(task));
  object.add("state", name_of(task.state));
  object.add("failing", task.is_failing());
  object.add("attempt", task.attempt);
  object.add("reason",
             task.reason ? std::optional{std::string_view{name_of(*task.reason)}} : std::nullopt);
  add_time(object, "pulse", task.pulse);
  add_time(object, "firstRegisteredAt", task.first_coming);
  add_time(object, "lastAttemptAt", task.last_attempt);
  add_time(object, "lastSuccessAt", task.last_success);
  add_time(object, "lastFailureAt", task.last_failure);
  add_time(object, "pendingRetryUntil", task.retry_at);
  add_time(object, "nextPulseAt", task.next_pulse);
  add_time(object, "nextDueAt", task.next_due());
  add_time(object, "overdueSince", task.overdue_since);
  object.begin("owed");
  if (task.owed) {
    append_owed(text, *task.owed);
  } else {
    text += "null";
  }
  const auto result = recent.last_result();
  object.add("lastResult", result ? std::optional{name_of(*result)} : std::nullopt);
  object.add("lastDurationMs",
             recent.duration ? std::optional{recent.duration->count()} : std::nullopt);
  object.add("lastError",
             recent.error.empty() ? std::nullopt : std::optional{std::string_view{recent.error}});
  object.add("recent", recent.results);
}

void append_json(std::string& text, const TaskDefinition& definition, const std::string& file) {
  const Command& command = definition.command;
  const Notifications& notifications = definition.notifications;
  JsonObject object{text};
  append_texts(object.begin("command"), command.arguments);
  object.add("directory", unless_empty(command.directory));
  object.add("user", unless_empty(command.user));
  std::vector<std::string> names;
  for (const auto& [name, value] : command.environment) names.push_back(name);
  append_texts(object.begin("environment"), names);
  object.add("retryDelayMs", definition.retry_delay.count());
  object.add("timeLimitMs",
             definition.time_limit > Duration::zero() ? std::optional{definition.time_limit.count()}
                                                      : std::nullopt);
  add_command(object, "onFailure", notifications.on_failure);
  add_command(object, "onRecovery", notifications.on_recovery);
  add_command(object, "onSuccess", notifications.on_success);
  object.add("notifyAfter", notifications.after);
  object.add("file", file);
  object.add("line", definition.place.line);
}

}  // namespace dutiful
