#include "commands/leftovers.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <map>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "commands/environment.h"
#include "posix/descriptor.h"

namespace dutiful {
namespace {

using Steady = std::chrono::steady_clock;

using Variables = std::set<std::string, std::less<>>;  // NAME=VALUE

// Whether it has one of each.
bool has_both(std::string_view environment, const Variables& names, const Variables& fences) {
  bool has_name = false;
  bool has_fence = false;
  for (std::size_t begin = 0; begin < environment.size();) {
    const std::size_t end = std::min(environment.find('\0', begin), environment.size());
    const std::string_view variable = environment.substr(begin, end - begin);
    has_name = has_name || names.contains(variable);
    has_fence = has_fence || fences.contains(variable);
    begin = end + 1;
  }
  return has_name && has_fence;
}

// Says of every process whether it is one that these daemons have left.
class Search {
 public:
  Search(const std::vector<Instance>& instances, const Fences& interrupted) {
    for (const std::uint64_t fence : interrupted) {
      fences_.insert(std::string{fence_variable} + '=' + std::to_string(fence));
    }
    const std::string space = process_space();
    for (const Instance& instance : instances) {
      names_.insert(std::string{instance_variable} + '=' + instance.name);
      if (instance.space.empty() || instance.space != space) continue;
      for (const StartedCommand& command : instance.commands) {
        // A daemon starts nothing before itself, and never the first process of the host.
        if (command.not_before < instance.start || command.process <= 1) continue;
        commands_[command.process].push_back(
            {command, command.has_ended ? command.not_after : instance.alive_until});
      }
    }
  }

  [[nodiscard]] std::vector<ProcessEntry> look() const {
    std::map<pid_t, ProcessEntry> all;
    for (const ProcessEntry& entry : all_processes()) all.emplace(entry.process, entry);
    all.erase(getpid());  // and so nothing is ours because it is a child of this one
    std::set<pid_t> sessions = sessions_without_leader(all);
    std::set<pid_t> found;
    for (const auto& [process, entry] : all) {
      if (is_recorded_leader(entry) || sessions.contains(entry.session) ||
          has_both(environment_of(process), names_, fences_)) {
        found.insert(process);
      }
    }
    // Its children, theirs, and so on.
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

 private:
  struct Recorded {
    StartedCommand command;
    Ticks members_until;  // until then its session is known to have been its own
  };

  [[nodiscard]] bool is_recorded_leader(const ProcessEntry& entry) const {
    if (entry.session != entry.process) return false;  // each is the leader of a session
    const auto recorded = commands_.find(entry.process);
    return recorded != commands_.end() &&
           std::ranges::any_of(recorded->second, [&](const Recorded& one) {
             return !one.command.has_ended && entry.start >= one.command.not_before &&
                    entry.start <= one.command.not_after;
           });
  }

  // The number of a session belongs to nobody else while it has members; afterwards it may be given
  // to another. So the session of a leader that is gone is the one that was written down only where
  // a member was born while the daemon knew the leader to be there.
  [[nodiscard]] std::set<pid_t> sessions_without_leader(
      const std::map<pid_t, ProcessEntry>& all) const {
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

  Variables names_;
  Variables fences_;
  std::map<pid_t, std::vector<Recorded>> commands_;
};

struct Held {
  ProcessEntry entry;
  Descriptor handle;
};

// Whether it is gone by then.
bool wait_for(const Held& held, Steady::time_point until) {
  const auto left = std::chrono::ceil<Duration>(until - Steady::now());
  pollfd waiting{.fd = held.handle.get(), .events = POLLIN, .revents = 0};
  return poll(&waiting, 1, static_cast<int>(std::max(left, Duration::zero()).count())) > 0;
}

void send(const Held& held, int signal) {
  syscall(SYS_pidfd_send_signal, held.handle.get(), signal, nullptr, 0);
}

// Takes hold of it, unless it is gone.
std::optional<Held> hold(const ProcessEntry& entry) {
  Held held{entry, Descriptor{static_cast<int>(syscall(SYS_pidfd_open, entry.process, 0))}};
  if (!held.handle.is_open()) {
    if (errno == ESRCH || errno == EINVAL || errno == ENOENT) return std::nullopt;
    throw std::system_error(errno,
                            std::generic_category(),
                            "no hold on process " + std::to_string(entry.process) +
                                ", which a daemon before has left (pidfd_open)");
  }
  // The number may be another's by now.
  const auto now = find_process(entry.process);
  if (!now || now->start != entry.start || wait_for(held, Steady::time_point{}))
    return std::nullopt;
  return held;
}

void stop_all_into(std::vector<Held>& all, const Search& search, Steady::time_point until) {
  std::set<std::pair<pid_t, Ticks>> known;
  for (int clean = 0; clean < 2; ++clean) {
    for (const ProcessEntry& entry : search.look()) {
      if (known.contains({entry.process, entry.start})) continue;
      auto held = hold(entry);
      if (!held) continue;
      known.insert({entry.process, entry.start});
      all.push_back(std::move(*held));
      send(all.back(), SIGSTOP);
      clean = -1;
    }
    if (Steady::now() > until) break;
  }
}

// All of them, stopped: none can fork any more, or lose the parent by which it is known. Two looks
// in a row must find nothing new, as one may have forked while it was being looked for. Where there
// are more than descriptors, as many as there are: with those gone, there are descriptors again.
std::vector<Held> stop_all(const Search& search, Steady::time_point until) {
  std::vector<Held> all;
  try {
    stop_all_into(all, search, until);
  } catch (const std::system_error& error) {
    const int code = error.code().value();
    if (!all.empty() && (code == EMFILE || code == ENFILE)) return all;
    for (const Held& held : all) send(held, SIGCONT);
    throw;
  } catch (...) {
    for (const Held& held : all) send(held, SIGCONT);
    throw;
  }
  return all;
}

}  // namespace

Sweep end_leftovers(const std::vector<Instance>& instances,
                    const Fences& interrupted,
                    Duration wait_max) {
  Sweep sweep;
  if (instances.empty()) return sweep;
  const Search search{instances, interrupted};
  const auto until = Steady::now() + wait_max;
  while (sweep.remaining.empty()) {
    const std::vector<Held> found = stop_all(search, until);
    if (found.empty()) break;
    for (const Held& held : found) send(held, SIGKILL);
    for (const Held& held : found) {
      if (wait_for(held, until)) {
        ++sweep.ended;
      } else {
        sweep.remaining.push_back(held.entry.process);
      }
    }
  }
  return sweep;
}

}  // namespace dutiful
