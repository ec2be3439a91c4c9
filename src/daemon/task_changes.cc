#include "daemon/task_changes.h"

#include <string_view>
#include <unordered_map>
#include <utility>

namespace dutiful {
namespace {

std::vector<std::string> changed_keys(const TaskDefinition& before, const TaskDefinition& after) {
  std::vector<std::string> keys;
  if (before.command.arguments != after.command.arguments) keys.emplace_back("run");
  if (before.command.directory != after.command.directory) keys.emplace_back("directory");
  if (before.command.environment != after.command.environment) keys.emplace_back("environment");
  if (before.command.user != after.command.user) keys.emplace_back("user");
  if (before.time_limit != after.time_limit) keys.emplace_back("timeout");
  const Notifications& was = before.notifications;
  const Notifications& is = after.notifications;
  if (was.on_failure != is.on_failure) keys.emplace_back("on_failure");
  if (was.on_recovery != is.on_recovery) keys.emplace_back("on_recovery");
  if (was.on_success != is.on_success) keys.emplace_back("on_success");
  if (was.after != is.after) keys.emplace_back("notify_after");
  return keys;
}

}  // namespace

std::vector<TaskChange> find_changes(std::span<const TaskDefinition> before,
                                     std::span<const TaskDefinition> after) {
  std::unordered_map<std::string_view, const TaskDefinition*> known;
  for (const TaskDefinition& task : before) known.emplace(task.name, &task);
  std::vector<TaskChange> changes;
  for (const TaskDefinition& task : after) {
    const auto found = known.find(task.name);
    if (found == known.end()) continue;
    auto keys = changed_keys(*found->second, task);
    if (keys.empty()) continue;
    changes.push_back({.task = task.name,
                       .keys = std::move(keys),
                       .time_limit_before = found->second->time_limit,
                       .time_limit = task.time_limit});
  }
  return changes;
}

}  // namespace dutiful
