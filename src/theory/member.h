// A member of a cluster, as far as its calls and runs are concerned.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include <dutiful/time.h>

#include "theory/compute.h"
#include "trace/event.h"

namespace dutiful::theory {

class Task;

// m, one live scheduler. A trace of one machine has one member, whose name is empty.
struct Member {
  // An initialize() that has not returned.
  struct Initialization {
    std::vector<TracedRegistration> list;  // R
    bool valid;                            // R ∈ ValidRegistrations
    bool binding;                          // S5 binds it (RULES H9)
    bool may_activate;                     // no stop since it began (RULES H3)
    Micros since;
    Instant at;
    Micros budget;
    CallNumber call;
    bool reported = false;
  };
  // A stop() that has not returned.
  struct Stop {
    Instant at;
    bool binding;  // L3 binds it: the scheduler has had a list (RULES H12)
    CallNumber call;
    std::optional<Micros> quiescent_since{};  // FirstQuiescentSince(SS_{R,m})
  };

  explicit Member(std::string_view its_name) : name(its_name) {}
  Member(const Member&) = delete;
  Member& operator=(const Member&) = delete;

  // Quiescent_m := ¬∃y. Running_{y,m}
  [[nodiscard]] bool quiescent() const { return running.empty(); }

  [[nodiscard]] std::deque<Initialization>::iterator find_call(CallNumber number);
  // Removes a call that has returned.
  Initialization answer(const std::deque<Initialization>::iterator& place);
  void find_initialization_deadline();

  // Crash_m: its calls do not return.
  void forget_calls();

  // Nothing that happens later depends on it.
  [[nodiscard]] bool is_over(Instant now) const {
    return !active && running.empty() && initializations.empty() && stops.empty() &&
           frozen.until() <= now && saturation.empty();
  }

  // Its part in Monitor::digest().
  [[nodiscard]] std::uint64_t digest(Instant now) const;

  // In messages: ` by member "m1"`, or nothing if the trace is of one machine.
  [[nodiscard]] std::string by() const;

  const std::string name;
  bool active = false;      // Active_{R,m}, managed by the monitor
  bool superseded = false;  // it was active until another member applied another list (RULES N8)
  bool had_list = false;    // since its last crash
  std::deque<Initialization> initializations{};
  Micros initialization_deadline = Micros::max();  // the earliest one that is not overdue
  std::deque<Stop> stops{};
  std::size_t judged_stops = 0;  // how many of the first are overdue or not bound by L3
  std::unordered_set<Task*> running{};
  FrozenTime frozen{};
  Stretches saturation{};  // while it ran as many callbacks as the limit allows (RULES H10)
};

}  // namespace dutiful::theory
