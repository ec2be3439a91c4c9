// What whoever heard the words of a victim may rely on, over all of its lives; and whether a state
// keeps it (RULES P1, P4, P8).
//
// - A list that was initialized is there, with every task of it and no other. One of which it was
//   never heard how it ended is there as a whole or not at all. One that was refused is not there,
//   unless the error itself says that this is in doubt.
// - A run whose callback has begun is recorded: as running, or as interrupted when the next life
//   has come, or as ended in the way in which it said that it returns. Not as ended where it did
//   not say so: a callback that was killed has not succeeded.
// - A run that was told to have ended has ended so, and is never run again.
// - No run that is recorded is older than those that were told.
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
  // One life's words, to its end. Complains of what none could have said with right.
  void hear(const Words& words);

  // The complaints of one who finds these records after that.
  [[nodiscard]] Complaints broken_by(const std::vector<TaskRecord>& records) const;

  // The state was found to have this list, so it is certain now; empty: no task at all.
  void settle_on(const std::string& list);

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
  std::string list_;                 // that was accepted last; empty: none
  std::string under_way_;            // an initialize() that has not answered yet
  std::set<std::string> possible_;   // others of which it is not known how they ended
  int initializing_life_ = 0;        // the newest life that may have taken the state
  std::map<std::string, Run> runs_;  // the newest of each task that was told
  std::set<std::tuple<std::string, Instant, long long>> attempts_;  // task, pulse, attempt
  std::set<std::pair<std::string, Instant>> done_;                  // task, pulse: succeeded
  Complaints complaints_;
};

// The name of the list that the records are of; empty where there is no record, "?" where it is
// none that anybody has registered.
[[nodiscard]] std::string list_of(const std::vector<TaskRecord>& records);

// What a life restarted, against the records that it found: exactly the runs that had been
// interrupted, as the next attempt at the same pulse (RULES K2, P8). Where it was not `whole`, it
// may have died before it came to some.
enum class Extent { whole, part };
[[nodiscard]] Complaints wrong_restarts(const std::vector<TaskRecord>& found,
                                        const Words& words,
                                        Extent extent);

}  // namespace dutiful::faults
