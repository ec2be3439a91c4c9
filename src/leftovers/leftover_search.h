// Which processes of the host are leftovers of previous daemons.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "leftovers/daemon_journal.h"
#include "leftovers/processes.h"

namespace dutiful {

// The fences of runs (RULES P8). They tell runs apart.
using Fences = std::set<std::uint64_t>;

// A leftover is
//
//   - a process whose environment has the name of one of the daemons and the fence of one of the
//     interrupted runs;
//   - a command in the journal, and every process of its session, whatever its environment is;
//   - a child of a leftover, and the session that a leftover leads.
//
// Processes that a finished run left behind on purpose, such as a service that it started, are no
// leftovers: their fence is not among the interrupted ones, and the journal no longer has their
// command. A process counts as a command of the journal only if it leads a session and was born
// when the journal says.
//
// The search misses a process that has cleared its environment and left its session, and whose
// parent has ended; docs/decisions/0007 lists the other cases.
class LeftoverSearch {
 public:
  LeftoverSearch(const std::vector<PreviousDaemon>& daemons, const Fences& interrupted);

  // The leftovers that exist now. Throws as all_processes() does.
  [[nodiscard]] std::vector<ProcessEntry> find() const;

 private:
  using Variables = std::set<std::string, std::less<>>;  // NAME=VALUE
  using Processes = std::map<pid_t, ProcessEntry>;
  struct Recorded {
    StartedCommand command;
    Ticks members_until;  // until then, its session is known to have been its own
  };

  [[nodiscard]] bool has_marks(pid_t process) const;
  [[nodiscard]] bool is_recorded_leader(const ProcessEntry& entry) const;
  [[nodiscard]] std::set<pid_t> sessions_without_leader(const Processes& all) const;

  Variables names_;
  Variables fences_;
  std::map<pid_t, std::vector<Recorded>> commands_;
};

}  // namespace dutiful
