// What the lines that a victim printed promise, over all of its lives, and whether a state keeps
// these promises (RULES P1, P4, P8).
//
// - A list that was initialized is there, with all of its tasks and no others. A list whose outcome
//   was not printed is there as a whole or not at all. A rejected list is not there, unless its
//   error is in doubt.
// - A run whose callback has begun is recorded: as running, as interrupted once the next life has
//   begun, or as ended with the outcome that it printed on returning. If it did not print one, it
//   is not recorded as ended: a killed callback has not succeeded.
// - A run whose end was printed has ended that way and never runs again.
// - No recorded run is older than the newest printed one.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "core/plan.h"
#include "faults/lists.h"
#include "faults/words.h"

namespace dutiful::faults {

using Complaints = std::vector<std::string>;

class Promises {
 public:
  // The lines of one whole life. Complains about those that cannot be true.
  void read(const Words& words);

  // The promises that these records break.
  [[nodiscard]] Complaints broken_by(const std::vector<TaskRecord>& records) const;

  // The state was found to contain this list, so the outcome is certain now. Empty: no tasks.
  void resolve_to(const std::string& list);

  // What the clock showed last.
  [[nodiscard]] Instant time() const { return time_; }

 private:
  enum class Stage { begun, returned, ended };
  struct Run {
    Instant started{};
    Instant pulse{};
    Stage stage = Stage::begun;
    bool failed = false;  // once it has returned
    int life = 0;         // in which it began
  };

  void on_started(const Line& line);
  void accept(const std::string& list);
  [[nodiscard]] std::string fault_of(const std::string& task, const TaskProgress& found) const;

  int life_ = 0;
  Instant time_ = first_life_begins;
  std::string list_;                 // the one accepted last; empty if none
  std::string under_way_;            // the list of an initialize() without an answer yet
  std::set<std::string> possible_;   // other lists whose outcome is unknown
  int initializing_life_ = 0;        // the newest life that may have taken the state
  std::map<std::string, Run> runs_;  // the newest known run of each task
  std::set<std::tuple<std::string, Instant, long long>> attempts_;  // task, pulse, attempt
  std::set<std::pair<std::string, Instant>> done_;                  // task, pulse: succeeded
  Complaints complaints_;
};

// The name of the list in the records; empty if there are no records, "?" if no one has registered
// such a list.
[[nodiscard]] std::string list_of(const std::vector<TaskRecord>& records);

// Compares the restarts of a life with the records that it found: exactly the interrupted runs,
// each as the next attempt at the same pulse (RULES K2, P8). If the life is not `whole`, it may
// have died before some of them.
enum class Extent { whole, part };
[[nodiscard]] Complaints wrong_restarts(const std::vector<TaskRecord>& found,
                                        const Words& words,
                                        Extent extent);

}  // namespace dutiful::faults
