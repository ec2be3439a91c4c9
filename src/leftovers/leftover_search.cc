#include "leftovers/leftover_search.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include <unistd.h>

#include "leftovers/marks.h"

namespace dutiful {

LeftoverSearch::LeftoverSearch(const std::vector<PreviousDaemon>& daemons,
                               const Fences& interrupted) {
  for (const std::uint64_t fence : interrupted) {
    fences_.insert(std::string{fence_variable} + '=' + std::to_string(fence));
  }
  const std::string space = process_space();
  for (const PreviousDaemon& daemon : daemons) {
    names_.insert(std::string{instance_variable} + '=' + daemon.name);
    if (daemon.space.empty() || daemon.space != space) continue;
    for (const StartedCommand& command : daemon.commands) {
      // A daemon starts nothing before itself, and never the first process of the host.
      if (command.not_before < daemon.start || command.process <= 1) continue;
      commands_[command.process].push_back(
          {command, command.has_ended ? command.not_after : daemon.alive_until});
    }
  }
}

std::vector<ProcessEntry> LeftoverSearch::find() const {
  Processes all;
  for (const ProcessEntry& entry : all_processes()) all.emplace(entry.process, entry);
  all.erase(getpid());  // so that no process is a leftover because this one is its parent
  const std::set<pid_t> sessions = sessions_without_leader(all);
  std::set<pid_t> found;
  for (const auto& [process, entry] : all) {
    if (is_recorded_leader(entry) || sessions.contains(entry.session) || has_marks(process)) {
      found.insert(process);
    }
  }
  // Their children, the children of those, and so on.
  for (bool more = true; std::exchange(more, false);) {
    for (const auto& [process, entry] : all) {
      if (found.contains(entry.parent) || found.contains(entry.session)) {
        more = found.insert(process).second || more;
      }
    }
  }
  std::vector<ProcessEntry> entries;
  entries.reserve(found.size());
  for (const pid_t process : found) entries.push_back(all.at(process));
  return entries;
}

// Whether its environment has the name of a daemon and the fence of an interrupted run.
bool LeftoverSearch::has_marks(pid_t process) const {
  const std::string environment = environment_of(process);
  const std::string_view text{environment};
  bool has_name = false;
  bool has_fence = false;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\0', begin), text.size());
    const std::string_view variable = text.substr(begin, end - begin);
    has_name = has_name || names_.contains(variable);
    has_fence = has_fence || fences_.contains(variable);
    begin = end + 1;
  }
  return has_name && has_fence;
}

bool LeftoverSearch::is_recorded_leader(const ProcessEntry& entry) const {
  if (entry.session != entry.process) return false;  // every command leads a session
  const auto recorded = commands_.find(entry.process);
  return recorded != commands_.end() &&
         std::ranges::any_of(recorded->second, [&](const Recorded& one) {
           return !one.command.has_ended && entry.start >= one.command.not_before &&
                  entry.start <= one.command.not_after;
         });
}

// While a session has members, its number is not given to another process; afterwards it may be. So
// if the leader no longer exists, the session is that of the command in the journal only if one of
// its members was born while the daemon knew that the leader existed.
std::set<pid_t> LeftoverSearch::sessions_without_leader(const Processes& all) const {
  std::set<pid_t> sessions;
  for (const auto& [process, entry] : all) {
    const auto recorded = commands_.find(entry.session);
    if (recorded == commands_.end() || all.contains(entry.session)) continue;
    for (const Recorded& one : recorded->second) {
      if (entry.start >= one.command.not_before && entry.start <= one.members_until) {
        sessions.insert(entry.session);
      }
    }
  }
  return sessions;
}

}  // namespace dutiful
