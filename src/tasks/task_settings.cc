#include "tasks/task_settings.h"

#include <utility>

#include <dutiful/errors.h>

#include "tasks/toml_value.h"
#include "text/quote.h"
#include "time/duration.h"

namespace dutiful {
namespace {

// The duration of a text that would be one without its minus sign.
Duration negative_duration(std::string_view text) {
  const auto read = parse_duration(text.substr(1));
  const auto* size = std::get_if<Duration>(&read);
  return size == nullptr ? -duration_max : -*size;
}

}  // namespace

bool SettingsReader::read(std::string_view key, const toml::node& node, TaskSettings& settings) {
  if (key == "run") {
    read_command(key, node, settings.arguments);
  } else if (key == "retry") {
    read_duration(key, node, settings.retry_delay);
  } else if (key == "timeout") {
    read_duration(key, node, settings.time_limit);
  } else if (key == "directory") {
    const auto* directory = read_filled(key, node, "remove it to use the daemon's directory");
    if (directory != nullptr) settings.directory = *directory;
  } else if (key == "environment") {
    read_environment(node, settings.environment);
  } else if (key == "user") {
    const auto* user = read_filled(key, node, "remove it to run as the daemon's user");
    if (user != nullptr) settings.user = *user;
  } else if (key == "on_failure") {
    read_notification(key, node, settings.notifications.on_failure);
  } else if (key == "on_recovery") {
    read_notification(key, node, settings.notifications.on_recovery);
  } else if (key == "on_success") {
    read_notification(key, node, settings.notifications.on_success);
  } else if (key == "notify_after") {
    read_notify_after(node, settings.notifications.after);
  } else {
    return false;
  }
  return true;
}

const std::string* SettingsReader::read_string(std::string_view key,
                                               const toml::node& node,
                                               std::string_view expected) {
  const auto* string = node.as_string();
  if (string == nullptr) {
    problems_.refuse_shape(
        node,
        std::string{key}.append(" must be ").append(expected).append(", not ") + describe(node));
    return nullptr;
  }
  if (string->get().find('\0') != std::string::npos) {
    // The value is not shown, because that of a variable may be a secret.
    problems_.refuse_value(
        key,
        place_of(node.source()),
        std::string{key} + " contains a NUL character, which the system does not accept",
        "a string with a NUL character");
    return nullptr;
  }
  return &string->get();
}

const std::string* SettingsReader::read_filled(std::string_view key,
                                               const toml::node& node,
                                               std::string_view remedy) {
  const std::string* string = read_string(key, node);
  if (string == nullptr || !string->empty()) return string;
  problems_.refuse_value(key, node, std::string{key}.append(" is empty; ").append(remedy));
  return nullptr;
}

void SettingsReader::read_command(std::string_view key,
                                  const toml::node& node,
                                  std::vector<std::string>& arguments) {
  if (const auto* words = node.as_array()) {
    read_arguments(key, *words, arguments);
    return;
  }
  const std::string* command =
      read_string(key, node, "a string for /bin/sh or an array of strings");
  if (command == nullptr) return;
  if (command->find_first_not_of(" \t\r\n") == std::string::npos) {
    const std::string_view remedy =
        key == "run" ? " such as run = \"make report\"" : ", or \"\" for none";
    problems_.refuse_value(
        key, node, std::string{key}.append(" is empty; write a command").append(remedy));
    return;
  }
  arguments = {"/bin/sh", "-c", *command};
}

void SettingsReader::read_arguments(std::string_view key,
                                    const toml::array& words,
                                    std::vector<std::string>& arguments) {
  if (words.empty()) {
    problems_.refuse_value(
        key,
        words,
        std::string{key}.append(" is an empty array; write the program and its arguments"));
    return;
  }
  std::vector<std::string> read;
  for (const toml::node& word : words) {
    const std::string* argument = read_string("every element of " + std::string{key}, word);
    if (argument == nullptr) continue;
    if (argument->empty() && &word == words.get(0)) {
      problems_.refuse_value(
          key,
          word,
          std::string{key}.append(" begins with an empty string; the first element must be the "
                                  "program"));
    }
    read.push_back(*argument);
  }
  arguments = std::move(read);
}

// The empty string switches off the notification that [defaults] sets.
void SettingsReader::read_notification(std::string_view key,
                                       const toml::node& node,
                                       std::vector<std::string>& arguments) {
  if (const auto* text = node.as_string(); text != nullptr && text->get().empty()) {
    arguments.clear();
  } else {
    read_command(key, node, arguments);
  }
}

void SettingsReader::read_notify_after(const toml::node& node,
                                       std::optional<std::uint32_t>& after) {
  const auto* number = node.as_integer();
  if (number == nullptr) {
    problems_.refuse_shape(
        node, "notify_after must be a number of failures, such as 3, not " + describe(node));
  } else if (number->get() < 1 || number->get() > notify_after_max) {
    problems_.refuse_value("notify_after",
                           node,
                           "notify_after is " + std::to_string(number->get()) +
                               "; write a number of failures from 1 to " +
                               std::to_string(notify_after_max));
  } else {
    after = static_cast<std::uint32_t>(number->get());
  }
}

void SettingsReader::read_duration(std::string_view key,
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
    problems_.refuse_shape(node, reason);
  } else if (key == "retry" && fault == DurationFault::negative) {
    const NegativeRetryDelayError error{negative_duration(*text)};
    problems_.add(node, std::string{error.what()} + ": " + reason, error);
  } else {
    problems_.refuse_value(key, node, reason);
  }
}

void SettingsReader::read_environment(const toml::node& node,
                                      std::map<std::string, std::string>& environment) {
  const auto* table = node.as_table();
  if (table == nullptr) {
    problems_.refuse_shape(
        node, "environment must be a table, such as { PGHOST = \"db\" }, not " + describe(node));
    return;
  }
  for (const auto& [key, value] : *table) {
    const std::string_view name = key.str();
    if (name.empty() || name.find('=') != std::string_view::npos ||
        name.find('\0') != std::string_view::npos) {
      problems_.refuse_value("environment",
                             place_of(key.source()),
                             "environment has an invalid variable name " + quote(name) +
                                 "; a name must not be empty or contain '=' or a NUL character",
                             std::string{name});
      continue;
    }
    const std::string* text = read_string("environment variable " + show(name), value);
    if (text != nullptr) environment[std::string{name}] = *text;
  }
}

}  // namespace dutiful
