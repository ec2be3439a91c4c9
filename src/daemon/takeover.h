// Takes over a state. The leftovers of the previous daemon are killed first, then tasks start.
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

  // The name of this daemon, which its commands carry, and the journal of its commands.
  [[nodiscard]] const std::string& instance() const { return instance_; }
  [[nodiscard]] DaemonJournal& journal() { return journal_; }

  // Finds the runs that the end of the previous daemon interrupted, and kills the processes left of
  // them. Requires that this process holds the state, and that the scheduler has not changed
  // it yet. Throws std::runtime_error if a process does not die, and what reading the state and the
  // journal throws.
  void prepare(Instant now);

  // The interrupted runs; empty at the next call.
  [[nodiscard]] std::vector<HistoryEntry> take_interrupted() {
    return std::exchange(interrupted_, {});
  }

  // The daemon ends without leftovers, or could not start: the next one has nothing to kill. Does
  // nothing if prepare() has not succeeded.
  void clear_journal();

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
