// The settings of a task: the keys that may also stand in [defaults].
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <dutiful/time.h>

#include "tasks/notifications.h"
#include "tasks/task_problems.h"
#include "tasks/toml_library.h"

namespace dutiful {

struct TaskSettings {
  std::vector<std::string> arguments;
  std::optional<Duration> retry_delay;
  std::optional<Duration> time_limit;
  std::string directory;
  std::map<std::string, std::string> environment;
  std::string user;
  Notifications notifications;
};

class SettingsReader {
 public:
  // The problems must outlive it.
  explicit SettingsReader(TaskProblems& problems) : problems_(problems) {}

  // Returns whether there is such a setting. A faulty one is a problem and leaves `settings` as
  // they were.
  bool read(std::string_view key, const toml::node& node, TaskSettings& settings);

  // The string that a key holds; null, with a problem, if the value is not a string or has a NUL
  // character.
  const std::string* read_string(std::string_view key,
                                 const toml::node& node,
                                 std::string_view expected = "a string");
  // The same; an empty string is a problem too.
  const std::string* read_filled(std::string_view key,
                                 const toml::node& node,
                                 std::string_view remedy);

 private:
  void read_command(std::string_view key,
                    const toml::node& node,
                    std::vector<std::string>& arguments);
  void read_arguments(std::string_view key,
                      const toml::array& words,
                      std::vector<std::string>& arguments);
  void read_notification(std::string_view key,
                         const toml::node& node,
                         std::vector<std::string>& arguments);
  void read_notify_after(const toml::node& node, std::optional<std::uint32_t>& after);
  void read_duration(std::string_view key,
                     const toml::node& node,
                     std::optional<Duration>& duration);
  void read_environment(const toml::node& node, std::map<std::string, std::string>& environment);

  TaskProblems& problems_;
};

}  // namespace dutiful
