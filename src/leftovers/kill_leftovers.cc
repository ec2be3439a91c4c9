#include "leftovers/kill_leftovers.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "posix/descriptor.h"

namespace dutiful {
namespace {

using Steady = std::chrono::steady_clock;

// A process that keeps its number as long as the handle is open.
struct Leftover {
  ProcessEntry entry;
  Descriptor handle;
};

// Whether it has ended by then.
bool wait_for_end(const Leftover& leftover, Steady::time_point until) {
  const auto left = std::chrono::ceil<Duration>(until - Steady::now());
  pollfd waiting{.fd = leftover.handle.get(), .events = POLLIN, .revents = 0};
  return poll(&waiting, 1, static_cast<int>(std::max(left, Duration::zero()).count())) > 0;
}

void send(const Leftover& leftover, int signal) {
  syscall(SYS_pidfd_send_signal, leftover.handle.get(), signal, nullptr, 0);
}

// Nothing if it no longer exists.
std::optional<Leftover> open_process(const ProcessEntry& entry) {
  Leftover leftover{entry, Descriptor{static_cast<int>(syscall(SYS_pidfd_open, entry.process, 0))}};
  if (!leftover.handle.is_open()) {
    if (errno == ESRCH || errno == EINVAL || errno == ENOENT) return std::nullopt;
    throw std::system_error(errno,
                            std::generic_category(),
                            "cannot open process " + std::to_string(entry.process) +
                                ", a leftover of the previous daemon (pidfd_open)");
  }
  // Its number may have been given to another process before it was opened.
  const auto now = find_process(entry.process);
  if (!now || now->start != entry.start || wait_for_end(leftover, Steady::time_point{})) {
    return std::nullopt;
  }
  return leftover;
}

void stop_all_into(std::vector<Leftover>& all,
                   const LeftoverSearch& search,
                   Steady::time_point until) {
  std::set<std::pair<pid_t, Ticks>> known;
  for (int clean = 0; clean < 2; ++clean) {
    for (const ProcessEntry& entry : search.find()) {
      if (known.contains({entry.process, entry.start})) continue;
      auto leftover = open_process(entry);
      if (!leftover) continue;
      known.insert({entry.process, entry.start});
      all.push_back(std::move(*leftover));
      send(all.back(), SIGSTOP);
      clean = -1;
    }
    if (Steady::now() > until) break;
  }
}

// Stops all leftovers, so that none can fork, or lose the parent by which it is known. Two searches
// in a row must find nothing new, because a process may fork during a search. If there are not
// enough descriptors, stops as many as possible: when those are dead, descriptors are free again.
std::vector<Leftover> stop_all(const LeftoverSearch& search, Steady::time_point until) {
  std::vector<Leftover> all;
  try {
    stop_all_into(all, search, until);
  } catch (const std::system_error& error) {
    const int code = error.code().value();
    if (!all.empty() && (code == EMFILE || code == ENFILE)) return all;
    for (const Leftover& leftover : all) send(leftover, SIGCONT);
    throw;
  } catch (...) {
    for (const Leftover& leftover : all) send(leftover, SIGCONT);
    throw;
  }
  return all;
}

}  // namespace

KilledLeftovers kill_leftovers(const std::vector<PreviousDaemon>& daemons,
                               const Fences& interrupted,
                               Duration wait_max) {
  KilledLeftovers killed;
  if (daemons.empty()) return killed;
  const LeftoverSearch search{daemons, interrupted};
  const auto until = Steady::now() + wait_max;
  while (killed.remaining.empty()) {
    const std::vector<Leftover> found = stop_all(search, until);
    if (found.empty()) break;
    for (const Leftover& leftover : found) send(leftover, SIGKILL);
    for (const Leftover& leftover : found) {
      if (wait_for_end(leftover, until)) {
        ++killed.count;
      } else {
        killed.remaining.push_back(leftover.entry.process);
      }
    }
  }
  return killed;
}

}  // namespace dutiful
