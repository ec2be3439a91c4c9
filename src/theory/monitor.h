// The judge: checks the axioms of the theory on a trace, event by event.
#pragma once

#include <functional>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <dutiful/policies.h>

#include "theory/compute.h"
#include "theory/member.h"
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
// On a cluster (RULES N11) every event has a member: for the end of a run the one that recorded it,
// for a Crash the one that died, for everything else the one that did it. The list, the pasts of
// the tasks and their obligations belong to the cluster; calls, runs and freezes to the member.
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

  // Requires that `at` is not before the previous event. The member is empty in a trace of one
  // machine.
  void on(std::size_t line, Instant at, const TraceEvent& event, std::string_view member = {});

  // The obligations that are open now, in the order in which they arose.
  [[nodiscard]] std::vector<Open> open() const;

  // Equal for two monitors that will judge the same future, shifted in time, in the same way. A
  // search uses it to avoid visiting a state twice. Anything older than `horizon` counts as that
  // old.
  [[nodiscard]] std::uint64_t digest(Duration horizon) const;

 private:
  void pass_time(Instant to);
  void check_budgets();
  void check_calls(Member& member);

  void handle(const InitStart& event);
  void handle(const InitSuccess& event);
  void handle(const InitFailure& event);
  void handle(const StopStart& event);
  void handle(const StopEnd& event);
  void handle(const RunStart& event);
  void handle(const RunSuccess& event);
  void handle(const RunFailure& event);
  void handle(const RunInterrupted& event);
  void handle(const Crash& event);
  void handle(const Freeze& event);
  void handle(const Outage& event);

  void act(const char* action);
  bool end_run(Task& task, const std::optional<Instant>& ended, const Fence& fence);
  void end_earlier_run(Task& task, const std::optional<Instant>& ended, const Fence& fence);
  void judge_overlap(Task& task, EarlierRuns::Run& run, const std::optional<Instant>& ended);
  void leave_member(Task& task, const std::optional<Instant>& ended);
  void start_time_of_stops(Member& member) const;
  void register_list(std::vector<TracedRegistration> list);
  void register_task(const TracedRegistration& registration);
  void forget(Task& task);
  void remove_task(const TracedRegistration& registration);

  // Active_R := ∃m. Active_{R,m}
  // where Active_{R,m} := Hold(IEs_{R,m}, SS_m ∨ Crash_m ∨ ∃R'≠R. ∃n. IEs_{R',n}), read as RULES H3
  // says; R is `list_`.
  [[nodiscard]] bool active() const { return active_members_ > 0; }
  // Obligation_{R,x} := Pending_x ∧ Registered_{R,x} ∧ Active_R
  [[nodiscard]] bool obligation(const Task& task) const {
    return task.pending() && task.registration != nullptr && active();
  }
  [[nodiscard]] std::string why_no_obligation(const Task& task) const;

  void owe(Task& task);
  void acquit(Task& task);
  void acquit_all();
  void saturate(Member& member);
  void violate(std::string_view axiom, std::string what);
  Task& task(const std::string& name);
  Member& member(std::string_view name);
  void set_active(Member& member, bool active);
  void find_sleep();
  // The compute that the member was granted.
  [[nodiscard]] Micros granted(const Member& member) const {
    return clock_.granted() - member.frozen.total(clock_.now());
  }

  Setting setting_;
  Judgement judgement_;
  Refused refused_;
  Pulses pulses_;
  ComputeClock clock_;
  std::size_t line_ = 0;

  std::unordered_map<std::string, Task> tasks_;
  std::vector<TracedRegistration> list_;  // R of Registered_R
  Micros budget_;                         // the bound that is linear in |R|
  std::map<std::string, Member, std::less<>> members_;
  Member* here_ = nullptr;  // the member of the event
  std::size_t active_members_ = 0;

  // The tasks that are owed a run, the longest first; those whose budget has run out; and the
  // others. Each task has its node in one of these lists.
  std::list<Task*> owed_;
  std::list<Task*> overdue_;
  std::list<Task*> idle_;
};

}  // namespace dutiful::theory
