// The judge: checks the axioms of the theory on a trace, event by event.
#pragma once

#include <deque>
#include <list>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <dutiful/policies.h>

#include "theory/compute.h"
#include "theory/pulses.h"
#include "theory/task.h"
#include "theory/verdict.h"
#include "trace/event.h"
#include "trace/lines.h"

namespace dutiful::theory {

// Settings that the events of a trace do not contain.
struct Setting {
  Zone zone = Zone::utc();
  RepeatedMinutes repeated_minutes = RepeatedMinutes::both;
  Override override = Override::keep_history;
  std::size_t max_concurrent = 0;  // 0: no limit
  Witnesses witnesses{};
};

// The settings in the header of a trace, with the defaults for the rest.
[[nodiscard]] Setting setting_of(const TraceHeader& header, const Zone& zone);

// Receives the events of a trace in order and reports every violation as soon as it is certain. Its
// memory grows with the tasks, not with the trace.
//
//   Monitor monitor{setting, [](const Violation& v) { std::cout << v.text() << '\n'; }};
//   monitor.on(2, at, InitStart{…});
//   …
//   monitor.open();   // the obligations that are still open
class Monitor {
 public:
  // `refused` receives the initializations that the environment refused, which violate nothing.
  Monitor(const Setting& setting, Judgement judgement, Refused refused = {});
  Monitor(const Monitor&) = delete;
  Monitor& operator=(const Monitor&) = delete;

  // Requires that `at` is not before the previous event.
  void on(std::size_t line, Instant at, const TraceEvent& event);

  // The obligations that are open now, in the order in which they arose.
  [[nodiscard]] std::vector<Open> open() const;

  // Equal for two monitors that will judge the same future, shifted in time, in the same way. A
  // search uses it to avoid visiting a state twice. Anything older than `horizon` counts as that
  // old.
  [[nodiscard]] std::uint64_t digest(Duration horizon) const;

 private:
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
    std::optional<Micros> quiescent_since{};  // FirstQuiescentSince(SS_R)
  };

  void pass_time(Instant to);
  void check_budgets();

  void handle(const InitStart& event);
  void handle(const InitSuccess& event);
  void handle(const InitFailure& event);
  void handle(const StopStart& event);
  void handle(const StopEnd& event);
  void handle(const RunStart& event);
  void handle(const RunSuccess& event);
  void handle(const RunFailure& event);
  void handle(const Crash& event);
  void handle(const Freeze& event);

  void act(const char* action);
  bool end_run(Task& task, const std::optional<Instant>& ended);
  void start_time_of_stops();
  [[nodiscard]] std::deque<Initialization>::iterator find_call(CallNumber call);
  Initialization answer(const std::deque<Initialization>::iterator& place);
  void find_initialization_deadline();
  void register_list(std::vector<TracedRegistration> list);
  void register_task(const TracedRegistration& registration);
  void forget(Task& task);
  void remove_task(const TracedRegistration& registration);

  // Active_R := Hold(IEs_R, SS_R ∨ Crash ∨ ∃R'≠R. IEs_R'), read as RULES H3 says; R is `list_`.
  [[nodiscard]] bool active() const { return active_; }
  // Quiescent := ¬∃y. Running_y
  [[nodiscard]] bool quiescent() const { return running_.empty(); }
  // Obligation_{R,x} := Pending_x ∧ Registered_{R,x} ∧ Active_R
  [[nodiscard]] bool obligation(const Task& task) const {
    return task.pending() && task.registration != nullptr && active();
  }
  [[nodiscard]] std::string why_no_obligation(const Task& task) const;

  void owe(Task& task);
  void acquit(Task& task);
  void acquit_all();
  void saturate();
  void violate(std::string_view axiom, std::string what);
  Task& task(const std::string& name);

  Setting setting_;
  Judgement judgement_;
  Refused refused_;
  Pulses pulses_;
  ComputeClock clock_;
  std::size_t line_ = 0;

  std::unordered_map<std::string, Task> tasks_;
  std::unordered_set<Task*> running_;
  std::vector<TracedRegistration> list_;  // R of Registered_R
  Micros budget_;                         // the bound that is linear in |R|
  bool active_ = false;
  bool had_list_ = false;  // since the last crash
  std::deque<Initialization> initializations_;
  Micros initialization_deadline_ = Micros::max();  // the earliest one that is not overdue
  std::deque<Stop> stops_;
  std::size_t judged_stops_ = 0;  // how many of the first are overdue or not bound by L3

  // The tasks that are owed a run, the longest first; those whose budget has run out; and the
  // others. Each task has its node in one of these lists.
  std::list<Task*> owed_;
  std::list<Task*> overdue_;
  std::list<Task*> idle_;
};

}  // namespace dutiful::theory
