// Taking over a state: what the previous daemon left is cleared away before anything starts.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "daemon/event_log.h"
#include "daemon/history_entry.h"
#include "leftovers/daemon_journal.h"

namespace dutiful {

class Takeover {
 public:
  // `state` is its path with all links resolved. The log must outlive this.
  Takeover(std::string state, EventLog& log);

  // The name of this daemon, which its commands carry, and where they are written down.
  [[nodiscard]] const std::string& instance() const { return instance_; }
  [[nodiscard]] DaemonJournal& journal() { return journal_; }

  // Finds the runs that the end of the previous daemon interrupted, and kills what is left of their
  // processes. Requires that this process holds the state, and that the scheduler has not changed
  // it yet. Throws std::runtime_error if a process does not die, and what reading the state and the
  // journal throws.
  void prepare(Instant now);

  // The interrupted runs, once.
  [[nodiscard]] std::vector<HistoryEntry> take_interrupted() {
    return std::exchange(interrupted_, {});
  }

  // The daemon ends and leaves no process behind, or could not start: nothing remains for the next
  // one. Does nothing if prepare() has not succeeded.
  void leave_nothing();

 private:
  void kill_all_leftovers();

  const std::string state_;
  const std::string instance_;
  EventLog& log_;
  DaemonJournal journal_;
  std::vector<HistoryEntry> interrupted_;
  bool is_prepared_ = false;
};

}  // namespace dutiful
