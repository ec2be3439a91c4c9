#include "tasks/task_file.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <exception>
#include <optional>
#include <span>
#include <sstream>
#include <unordered_map>
#include <utility>

#include <dutiful/cron.h>
#include <dutiful/errors.h>
#include <dutiful/limits.h>

#include "tasks/toml_guard.h"
#include "tasks/toml_library.h"
#include "text/nearest.h"
#include "text/quote.h"
#include "time/duration.h"

namespace dutiful {
namespace {

constexpr std::array<std::string_view, 2> file_keys{"defaults", "task"};
constexpr std::array<std::string_view, 8> task_keys{
    "name", "cron", "run", "retry", "timeout", "directory", "environment", "user"};

Place place_of(const toml::source_region& source) {
  return {.line = source.begin.line, .column = source.begin.column};
}

// "the integer 5", "a table".
std::string describe(const toml::node& node) {
  if (const auto* string = node.as_string()) return "the string " + quote(string->get());
  if (const auto* integer = node.as_integer())
    return "the integer " + std::to_string(integer->get());
  if (const auto* boolean = node.as_boolean())
    return std::string{"the boolean "} + (boolean->get() ? "true" : "false");
  if (node.is_floating_point()) return "a floating-point number";
  if (node.is_array()) return "an array";
  if (node.is_table()) return "a table";
  return node.is_time() ? "a time" : "a date";
}

// The value itself: 5, but for a string no quotes.
std::string text_of(const toml::node& node) {
  if (const auto* string = node.as_string()) return string->get();
  if (const auto* integer = node.as_integer()) return std::to_string(integer->get());
  if (const auto* boolean = node.as_boolean()) return boolean->get() ? "true" : "false";
  std::ostringstream out;
  if (const auto* number = node.as_floating_point()) {
    std::array<char, 32> text{};  // as the shortest form of any double
    out.write(text.data(),
              std::to_chars(text.begin(), text.end(), number->get()).ptr - text.data());
  } else if (const auto* date = node.as_date()) {
    out << date->get();
  } else if (const auto* time = node.as_time()) {
    out << time->get();
  } else if (const auto* moment = node.as_date_time()) {
    out << moment->get();
  } else {
    out << describe(node);
  }
  return out.str();
}

template <typename Words>
std::string list(const Words& words) {
  std::string out;
  for (const std::string_view word : words) out.append(out.empty() ? "" : ", ").append(word);
  return out;
}

// "a table with name, cron": of what, and whatever else it holds, a value may be a secret.
std::string text_of_keys(const toml::table& table) {
  if (table.empty()) return "an empty table";
  std::vector<std::string> keys;
  for (const auto& [key, value] : table) keys.emplace_back(key.str());
  return "a table with " + list(keys);
}

// What a registration calls a key of the task file.
std::string field_of(std::string_view key) {
  if (key == "name") return "name";
  if (key == "cron") return "cronExpression";
  if (key == "retry") return "retryDelay";
  return key == "timeout" ? "timeLimit" : "callback";
}

// What a task has beside its name and its expression, and what [defaults] may hold.
struct Settings {
  std::vector<std::string> arguments;
  std::optional<Duration> retry_delay;
  std::optional<Duration> time_limit;
  std::string directory;
  std::map<std::string, std::string> environment;
  std::string user;
};

class Loader {
 public:
  // What the file says, together with everything that is wrong with it.
  TaskFile load(const toml::table& root) {
    if (const auto* defaults = root.get("defaults")) read_defaults(*defaults);
    if (const auto* tasks = root.get("task")) read_tasks(*tasks);
    for (const auto& [key, value] : root) {
      if (std::ranges::find(file_keys, key.str()) == file_keys.end())
        refuse_key(key, "a task file", file_keys);
    }

    // The TOML library keeps keys in alphabetical order.
    std::ranges::stable_sort(file_.problems, {}, [](const Problem& problem) {
      return std::pair{problem.place.line, problem.place.column};
    });
    if (!file_.problems.empty()) file_.tasks.clear();
    return std::move(file_);
  }

 private:
  // The task at fault is the one that is read.
  void add(Place place, std::string message, const Error& error, std::string received) {
    Problem problem{.place = place,
                    .message = std::move(message),
                    .error = error.name(),
                    .registration_index = index_,
                    .received = std::move(received),
                    .details = error.fields()};
    std::erase_if(problem.details, [](const ErrorField& field) {
      return field.name == "registrationIndex" || field.name == "received";
    });
    file_.problems.push_back(std::move(problem));
  }
  void add(const toml::node& node, std::string message, const Error& error) {
    add(place_of(node.source()), std::move(message), error, text_of(node));
  }

  // Of the wrong type, or there where nothing may be, or not there.
  void refuse_shape(Place place, std::string message, const std::string& received) {
    add(place, std::move(message), RegistrationShapeError{index_.value_or(0), received}, received);
  }
  void refuse_shape(const toml::node& node, std::string message) {
    refuse_shape(place_of(node.source()), std::move(message), text_of(node));
  }

  // Of the right type, and yet not acceptable.
  void refuse_value(std::string_view key, const toml::node& node, const std::string& message) {
    add(node, message, InvalidRegistrationError{field_of(key), text_of(node), message});
  }

  void refuse_key(const toml::key& key,
                  std::string_view whose,
                  std::span<const std::string_view> known) {
    std::string message = "unknown key " + quote(key.str()) + "; ";
    if (const std::string_view meant = nearest(key.str(), known); !meant.empty()) {
      message.append("did you mean ").append(quote(meant)).append("?");
    } else {
      message.append(whose).append(" has ").append(list(known));
    }
    refuse_shape(place_of(key.source()), std::move(message), std::string{key.str()});
  }

  void read_defaults(const toml::node& node) {
    const auto* table = node.as_table();
    if (table == nullptr) {
      refuse_shape(node, "defaults must be a table, [defaults], not " + describe(node));
      return;
    }
    for (const auto& [key, value] : *table) {
      if (key.str() == "name" || key.str() == "cron") {
        refuse_shape(place_of(key.source()),
                     "[defaults] cannot hold " + quote(key.str()) + "; every task has its own",
                     std::string{key.str()});
      } else if (!read_setting(key.str(), value, defaults_)) {
        refuse_key(key, "[defaults]", std::span{task_keys}.subspan(2));
      }
    }
    defaults_table_ = table;
  }

  void read_tasks(const toml::node& node) {
    const auto* tasks = node.as_array();
    if (tasks == nullptr) {
      const RegistrationsNotArrayError error;
      add(node,
          std::string{error.what()} + "; task is " + describe(node) +
              ", write [[task]] above every task",
          error);
      return;
    }
    for (std::size_t i = 0; i < tasks->size(); ++i) {
      const toml::node& task = *tasks->get(i);
      index_ = i;
      if (const auto* table = task.as_table()) {
        read_task(*table);
      } else {
        const RegistrationShapeError error{i, text_of(task)};
        add(task,
            std::string{error.what()} + "; task " + std::to_string(i + 1) + " is " +
                describe(task) + ", write [[task]] and below it name, cron, run and retry",
            error);
      }
    }
    index_.reset();
  }

  void read_task(const toml::table& table) {
    TaskDefinition task;
    task.place = place_of(table.source());
    Settings settings = defaults_;
    for (const auto& [key, value] : table) {
      if (key.str() == "name") {
        read_name(value, task.name);
      } else if (key.str() == "cron") {
        read_cron(value, task.cron);
      } else if (!read_setting(key.str(), value, settings)) {
        refuse_key(key, "a task", task_keys);
      }
    }
    require_keys(table, task);

    task.retry_delay = settings.retry_delay.value_or(Duration{});
    task.time_limit = settings.time_limit.value_or(Duration{});
    task.command = {.arguments = std::move(settings.arguments),
                    .directory = std::move(settings.directory),
                    .environment = std::move(settings.environment),
                    .user = std::move(settings.user)};
    task.command_is_shared = !table.contains("run");
    file_.tasks.push_back(std::move(task));
  }

  void require_keys(const toml::table& table, const TaskDefinition& task) {
    const std::string who = task.name.empty() ? "the task" : "task " + quote(task.name);
    const auto in_defaults = [this](std::string_view key) {
      return defaults_table_ != nullptr && defaults_table_->contains(key);
    };
    const auto miss = [&](const std::string& what) {
      refuse_shape(task.place, who + " has no " + what, text_of_keys(table));
    };
    if (!table.contains("name")) miss("name; write name = \"…\"");
    if (!table.contains("cron")) miss("cron expression; write one such as cron = \"15 3 * * 1-5\"");
    if (!table.contains("run") && !in_defaults("run")) miss("command; write run = \"…\"");
    if (!table.contains("retry") && !in_defaults("retry"))
      miss("retry delay; write one such as retry = \"5m\", here or in [defaults]");
  }

  // The string that a key has; null, with a problem, where it has none that will do.
  const std::string* read_string(std::string_view key,
                                 const toml::node& node,
                                 std::string_view expected = "a string") {
    const auto* string = node.as_string();
    if (string == nullptr) {
      refuse_shape(
          node,
          std::string{key}.append(" must be ").append(expected).append(", not ") + describe(node));
      return nullptr;
    }
    if (string->get().find('\0') != std::string::npos) {
      // The value is not shown: it may be that of a variable, and so a secret.
      const std::string message =
          std::string{key} + " holds a NUL character, which the system cannot take";
      const std::string received = "a string with a NUL character";
      add(place_of(node.source()),
          message,
          InvalidRegistrationError{field_of(key), received, message},
          received);
      return nullptr;
    }
    return &string->get();
  }

  // The same, and it must not be empty.
  const std::string* read_filled(std::string_view key,
                                 const toml::node& node,
                                 std::string_view remedy) {
    const std::string* string = read_string(key, node);
    if (string == nullptr || !string->empty()) return string;
    refuse_value(key, node, std::string{key}.append(" is empty; ").append(remedy));
    return nullptr;
  }

  void check_length(std::string_view key,
                    const toml::node& node,
                    const std::string& text,
                    std::size_t bytes_max) {
    if (text.size() <= bytes_max) return;
    refuse_value(key,
                 node,
                 std::string{key} + " has " + std::to_string(text.size()) +
                     " bytes; it may have at most " + std::to_string(bytes_max));
  }

  void read_name(const toml::node& node, std::string& name) {
    const std::string* read = read_filled("name", node, "every task needs one");
    if (read == nullptr) return;
    name = *read;
    check_length("name", node, name, task_name_max);
    const auto [first, is_new] = names_.try_emplace(name, place_of(node.source()));
    if (is_new) return;
    add(node,
        "Task with name " + quote(name) + " is already scheduled, at line " +
            std::to_string(first->second.line) + ", column " +
            std::to_string(first->second.column) + "; every task needs its own name",
        ScheduleDuplicateTaskError{name});
  }

  void read_cron(const toml::node& node, std::string& cron) {
    const std::string* read = read_string("cron", node);
    if (read == nullptr) return;
    cron = *read;
    check_length("cron", node, cron, cron_text_max);
    if (CronExpression::try_parse(cron)) return;
    try {
      (void)CronExpression::parse(cron);
    } catch (const InvalidCronExpressionError& error) {
      add(node,
          error.what(),
          CronExpressionInvalidError{error.what(),
                                     error.expression(),
                                     error.field(),
                                     error.reason(),
                                     std::current_exception()});
    }
  }

  // Whether there is such a setting. A faulty one is a problem and stays as it was.
  bool read_setting(std::string_view key, const toml::node& node, Settings& settings) {
    if (key == "run") {
      read_run(node, settings.arguments);
    } else if (key == "retry") {
      read_duration(key, node, settings.retry_delay);
    } else if (key == "timeout") {
      read_duration(key, node, settings.time_limit);
    } else if (key == "directory") {
      const auto* directory = read_filled(key, node, "leave it out for the daemon's own");
      if (directory != nullptr) settings.directory = *directory;
    } else if (key == "environment") {
      read_environment(node, settings.environment);
    } else if (key == "user") {
      const auto* user = read_filled(key, node, "leave it out for the daemon's own");
      if (user != nullptr) settings.user = *user;
    } else {
      return false;
    }
    return true;
  }

  void read_run(const toml::node& node, std::vector<std::string>& arguments) {
    if (const auto* words = node.as_array()) {
      read_arguments(*words, arguments);
      return;
    }
    const std::string* command =
        read_string("run", node, "a string for /bin/sh or an array of strings");
    if (command == nullptr) return;
    if (command->find_first_not_of(" \t\r\n") == std::string::npos) {
      refuse_value("run", node, "run is empty; write a command such as run = \"make report\"");
      return;
    }
    arguments = {"/bin/sh", "-c", *command};
  }

  void read_arguments(const toml::array& words, std::vector<std::string>& arguments) {
    if (words.empty()) {
      refuse_value("run", words, "run is an empty array; write the program and its arguments");
      return;
    }
    std::vector<std::string> read;
    for (const toml::node& word : words) {
      const std::string* argument = read_string("every element of run", word);
      if (argument == nullptr) continue;
      if (argument->empty() && &word == words.get(0))
        refuse_value("run", word, "run begins with an empty string; write the program first");
      read.push_back(*argument);
    }
    arguments = std::move(read);
  }

  void read_duration(std::string_view key,
                     const toml::node& node,
                     std::optional<Duration>& duration) {
    const std::string* text = read_string(key, node, "a duration in quotes, such as \"5m\"");
    if (text == nullptr) return;
    const auto read = parse_duration(*text);
    if (const auto* value = std::get_if<Duration>(&read)) {
      duration = *value;
      return;
    }
    const auto fault = std::get<DurationFault>(read);
    const std::string reason = std::string{key} + ' ' + explain_fault(*text, fault);
    if (fault == DurationFault::malformed) {
      refuse_shape(node, reason);
    } else if (key == "retry" && fault == DurationFault::negative) {
      const NegativeRetryDelayError error{negative_duration(*text)};
      add(node, std::string{error.what()} + ": " + reason, error);
    } else {
      refuse_value(key, node, reason);
    }
  }

  // Of a text that is a duration but for the minus sign before it.
  static Duration negative_duration(std::string_view text) {
    const auto read = parse_duration(text.substr(1));
    const auto* size = std::get_if<Duration>(&read);
    return size == nullptr ? -duration_max : -*size;
  }

  void read_environment(const toml::node& node, std::map<std::string, std::string>& environment) {
    const auto* table = node.as_table();
    if (table == nullptr) {
      refuse_shape(
          node, "environment must be a table, such as { PGHOST = \"db\" }, not " + describe(node));
      return;
    }
    for (const auto& [key, value] : *table) {
      const std::string_view name = key.str();
      if (name.empty() || name.find('=') != std::string_view::npos ||
          name.find('\0') != std::string_view::npos) {
        const std::string message = "environment cannot hold a variable " + quote(name) +
                                    "; a name is not empty and has no '=' and no NUL character";
        add(place_of(key.source()),
            message,
            InvalidRegistrationError{"callback", std::string{name}, message},
            std::string{name});
        continue;
      }
      const std::string* text = read_string("environment variable " + show(name), value);
      if (text != nullptr) environment[std::string{name}] = *text;
    }
  }

  TaskFile file_;
  Settings defaults_;
  const toml::table* defaults_table_ = nullptr;
  std::optional<std::size_t> index_;  // of the task that is read
  std::unordered_map<std::string, Place> names_;
};

// What the TOML library says, and what it does not.
std::string explain(std::string_view description) {
  if (description.find("TOML_MAX_NESTED_VALUES") != std::string_view::npos)
    return "values nest too deeply; a task file needs no more than three levels";
  std::string message = on_one_line(description);  // it has escaped what it quotes
  if (description.find("integer") != std::string_view::npos)
    message += "; a string, a duration such as \"5m\" too, needs quotes";
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
