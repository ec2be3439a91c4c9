#include "tasks/task_file.h"

#include <algorithm>
#include <array>
#include <exception>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>

#include <dutiful/cron.h>
#include <dutiful/errors.h>
#include <dutiful/limits.h>

#include "tasks/task_problems.h"
#include "tasks/task_settings.h"
#include "tasks/toml_guard.h"
#include "tasks/toml_library.h"
#include "tasks/toml_value.h"
#include "text/quote.h"

namespace dutiful {
namespace {

constexpr std::array<std::string_view, 2> file_keys{"defaults", "task"};
constexpr std::array<std::string_view, 12> task_keys{"name",
                                                     "cron",
                                                     "run",
                                                     "retry",
                                                     "timeout",
                                                     "directory",
                                                     "environment",
                                                     "user",
                                                     "on_failure",
                                                     "on_recovery",
                                                     "on_success",
                                                     "notify_after"};

// Builds the tasks of a document that is valid TOML.
class Loader {
 public:
  TaskFile load(const toml::table& root) {
    if (const auto* defaults = root.get("defaults")) read_defaults(*defaults);
    if (const auto* tasks = root.get("task")) read_tasks(*tasks);
    for (const auto& [key, value] : root) {
      if (std::ranges::find(file_keys, key.str()) == file_keys.end())
        problems_.refuse_key(key, "a task file", file_keys);
    }

    TaskFile file{.tasks = std::move(tasks_), .problems = problems_.take()};
    if (!file.problems.empty()) file.tasks.clear();
    return file;
  }

 private:
  void read_defaults(const toml::node& node) {
    const auto* table = node.as_table();
    if (table == nullptr) {
      problems_.refuse_shape(node, "defaults must be a table, [defaults], not " + describe(node));
      return;
    }
    for (const auto& [key, value] : *table) {
      if (key.str() == "name" || key.str() == "cron") {
        problems_.refuse_shape(
            place_of(key.source()),
            "[defaults] cannot contain " + quote(key.str()) + "; set it in each task",
            std::string{key.str()});
      } else if (!settings_.read(key.str(), value, defaults_)) {
        problems_.refuse_key(key, "[defaults]", std::span{task_keys}.subspan(2));
      }
    }
    defaults_table_ = table;
  }

  void read_tasks(const toml::node& node) {
    const auto* tasks = node.as_array();
    if (tasks == nullptr) {
      const RegistrationsNotArrayError error;
      problems_.add(node,
                    std::string{error.what()} + "; task is " + describe(node) +
                        "; begin each task with [[task]]",
                    error);
      return;
    }
    for (std::size_t i = 0; i < tasks->size(); ++i) {
      const toml::node& task = *tasks->get(i);
      problems_.set_task(i);
      if (const auto* table = task.as_table()) {
        read_task(*table);
      } else {
        const RegistrationShapeError error{i, text_of(task)};
        problems_.add(task,
                      std::string{error.what()} + "; task " + std::to_string(i + 1) + " is " +
                          describe(task) +
                          "; begin it with [[task]], followed by name, cron, run and retry",
                      error);
      }
    }
    problems_.set_task(std::nullopt);
  }

  void read_task(const toml::table& table) {
    TaskDefinition task;
    task.place = place_of(table.source());
    TaskSettings settings = defaults_;
    for (const auto& [key, value] : table) {
      if (key.str() == "name") {
        read_name(value, task.name);
      } else if (key.str() == "cron") {
        read_cron(value, task.cron);
      } else if (!settings_.read(key.str(), value, settings)) {
        problems_.refuse_key(key, "a task", task_keys);
      }
    }
    require_keys(table, task);

    task.retry_delay = settings.retry_delay.value_or(Duration{});
    task.time_limit = settings.time_limit.value_or(Duration{});
    task.command = {.arguments = std::move(settings.arguments),
                    .directory = std::move(settings.directory),
                    .environment = std::move(settings.environment),
                    .user = std::move(settings.user)};
    task.notifications = std::move(settings.notifications);
    task.command_is_shared = !table.contains("run");
    task.sets_notify_after = table.contains("notify_after");
    tasks_.push_back(std::move(task));
  }

  void require_keys(const toml::table& table, const TaskDefinition& task) {
    const std::string who = task.name.empty() ? "the task" : "task " + quote(task.name);
    const auto in_defaults = [this](std::string_view key) {
      return defaults_table_ != nullptr && defaults_table_->contains(key);
    };
    const auto miss = [&](const std::string& what) {
      problems_.refuse_shape(task.place, who + " has no " + what, text_of_keys(table));
    };
    if (!table.contains("name")) miss("name; add name = \"…\"");
    if (!table.contains("cron")) miss("cron expression; add one such as cron = \"15 3 * * 1-5\"");
    if (!table.contains("run") && !in_defaults("run")) miss("command; add run = \"…\"");
    if (!table.contains("retry") && !in_defaults("retry"))
      miss("retry delay; add one such as retry = \"5m\" to the task or to [defaults]");
  }

  void check_length(std::string_view key,
                    const toml::node& node,
                    const std::string& text,
                    std::size_t bytes_max) {
    if (text.size() <= bytes_max) return;
    problems_.refuse_value(key,
                           node,
                           std::string{key} + " is " + std::to_string(text.size()) +
                               " bytes long; the maximum is " + std::to_string(bytes_max));
  }

  void read_name(const toml::node& node, std::string& name) {
    const std::string* read = settings_.read_filled("name", node, "every task needs a name");
    if (read == nullptr) return;
    name = *read;
    check_length("name", node, name, task_name_max);
    const auto [first, is_new] = names_.try_emplace(name, place_of(node.source()));
    if (is_new) return;
    problems_.add(node,
                  "Task with name " + quote(name) + " is already scheduled at line " +
                      std::to_string(first->second.line) + ", column " +
                      std::to_string(first->second.column) + "; names must be unique",
                  ScheduleDuplicateTaskError{name});
  }

  void read_cron(const toml::node& node, std::string& cron) {
    const std::string* read = settings_.read_string("cron", node);
    if (read == nullptr) return;
    cron = *read;
    check_length("cron", node, cron, cron_text_max);
    if (CronExpression::try_parse(cron)) return;
    try {
      (void)CronExpression::parse(cron);
    } catch (const InvalidCronExpressionError& error) {
      problems_.add(node,
                    error.what(),
                    CronExpressionInvalidError{error.what(),
                                               error.expression(),
                                               error.field(),
                                               error.reason(),
                                               std::current_exception()});
    }
  }

  std::vector<TaskDefinition> tasks_;
  TaskProblems problems_;
  SettingsReader settings_{problems_};
  TaskSettings defaults_;
  const toml::table* defaults_table_ = nullptr;
  std::unordered_map<std::string, Place> names_;
};

// The message of the TOML library, with a remedy if one is known.
std::string explain(std::string_view description) {
  if (description.find("TOML_MAX_NESTED_VALUES") != std::string_view::npos)
    return "values nest too deeply; a task file needs no more than three levels";
  std::string message = on_one_line(description);  // the library escapes what it quotes
  if (description.find("integer") != std::string_view::npos)
    message += "; strings need quotes, including durations such as \"5m\"";
  return message;
}

TaskFile refuse(Problem problem) {
  TaskFile file;
  file.problems.push_back(std::move(problem));
  return file;
}

}  // namespace

TaskFile parse_task_file(std::string_view text) {
  if (auto problem = guard_toml(text)) return refuse(std::move(*problem));
  const toml::parse_result result = toml::parse(text);
  if (!result) {
    return refuse({.place = place_of(result.error().source()),
                   .message = explain(result.error().description())});
  }
  return Loader{}.load(result.table());
}

}  // namespace dutiful
