// The past of one task, and the macros of the theory about it.
#pragma once

#include <cstdint>
#include <list>
#include <optional>
#include <string>

#include <dutiful/time.h>

#include "theory/compute.h"
#include "theory/earlier_runs.h"
#include "theory/temporal.h"
#include "trace/event.h"

namespace dutiful::theory {

struct Member;
struct Schedule;

// What interrupted a run.
enum class Interruption {
  crash,  // Crash_m of the member that it runs on
  alone,  // RI_x, a RunInterrupted of this run
};

// x, updated at every position at which something happens to it. A past belongs to a name (RULES
// H4).
class Task {
 public:
  explicit Task(std::string name) : name_(std::move(name)) {}
  [[nodiscard]] const std::string& name() const { return name_; }

  // Running_x := ∃m. Running_{x,m}
  // where Running_{x,m} := Hold(RS_{x,m}, RE_x ∨ RI_x ∨ Crash_m)
  [[nodiscard]] bool running() const { return bool{running_}; }

  // DuePending_x := Hold⁺(Due_x, RS_x ∨ FirstComing_x) ∧ ¬Running_x
  [[nodiscard]] bool due_pending() const { return due_ && !running_; }

  // RetryPending_x := Hold⁺(RetryDue_x, RS_x ∨ FirstComing_x) ∧ ¬Running_x
  [[nodiscard]] bool retry_pending() const { return retry_ && !running_; }

  // OrphanedPending_x := Hold(Orphaned_x, RS_x ∨ FirstComing_x)
  // where Orphaned_x := ∃m. (Crash_m ∨ RI_x) ∧ Y Running_{x,m}
  //
  // The theory writes Hold(RS_x, RE_x) for Y Running. That would still hold after the crash, so a
  // second crash could interrupt a run that the first crash had already ended and a first coming
  // had made forgotten.
  [[nodiscard]] bool orphaned_pending() const { return orphaned_ && !running_; }

  // BootDuePending_x := Hold(FirstComing_x ∧ MountainDue_x, RS_x) ∧ ¬Running_x (RULES H1)
  [[nodiscard]] bool boot_due_pending() const { return boot_due_ && !running_; }

  // Pending_x := DuePending_x ∨ RetryPending_x ∨ OrphanedPending_x ∨ BootDuePending_x
  [[nodiscard]] bool pending() const {
    return due_pending() || retry_pending() || orphaned_pending() || boot_due_pending();
  }

  // What a position of the trace does to the task.
  void due(Instant at);                                   // Due_x
  void retry_due();                                       // RetryDue_x
  void run_start(Instant at, Member& on, Fence fence);    // RS_{x,m}
  void run_end();                                         // RE_x
  void run_failure(Instant at, Duration retry_delay);     // REf_x, after RE_x
  void interrupt(Instant at, Interruption interruption);  // Crash_m, RI_x
  void first_coming(Instant at, bool mountain_due);       // FirstComing_x
  void forget_pulses() { due_.step(false, true); }        // another schedule is registered
  void forget_successes();                                // RULES H8

  // Since when each obligation is pending, to explain a verdict.
  [[nodiscard]] std::string why_pending() const;

  // AtMostOne(Due_x, RSucc_x) := G(RSucc_x → X(¬RSucc_x W Due_x))
  // where RSucc_x := ∃m. RS_{x,m} ∧ (¬(REf_x ∨ RI_x ∨ Crash_m) U REs_x)
  //
  // The starts of the previous successful run and of the run that has just succeeded, if both
  // count.
  struct Successes {
    Instant first, second;
  };
  std::optional<Successes> succeed();

  // Its part in Monitor::digest().
  [[nodiscard]] std::uint64_t digest(Instant now, Duration horizon) const;

  // Pulses up to this instant are served or forgotten.
  [[nodiscard]] Instant cleared() const { return cleared_; }
  [[nodiscard]] Instant started() const { return started_; }
  // Its last run was interrupted and no start has followed.
  [[nodiscard]] bool interrupted() const { return interrupted_; }
  [[nodiscard]] Interruption interruption() const { return interruption_; }
  // Whether an event with that fence is about the newest run.
  [[nodiscard]] bool is_newest(const Fence& fence) const {
    return !fence || !fence_ || fence == fence_;
  }
  [[nodiscard]] EarlierRuns& earlier_runs() { return earlier_runs_; }
  // The member that it runs on; null if it does not run.
  [[nodiscard]] Member* runner() const { return runner_; }
  [[nodiscard]] std::optional<Instant> retry_at() const { return retry_at_; }

  // Its registration. Managed by the monitor.
  const TracedRegistration* registration = nullptr;  // null if it is not registered
  Schedule* schedule = nullptr;
  bool awaits_pulse = false;  // it waits for its schedule's next pulse

  // The obligation that L1 bounds. Managed by the monitor.
  std::optional<Micros> owed_since{};  // the compute granted until then
  Instant owed_at{};
  bool overdue = false;  // its budget has run out, and this was reported
  std::list<Task*>::iterator owed{};

 private:
  std::string name_;
  Hold running_;
  HoldPlus due_;
  HoldPlus retry_;
  Hold orphaned_;
  Hold boot_due_;
  bool interrupted_ = false;
  Interruption interruption_ = Interruption::crash;
  bool counts_ = false;  // the run began after the newest first coming and change of schedule
  Instant cleared_{};
  Instant started_{};
  Instant due_at_{};
  Instant orphaned_at_{};
  Instant came_{};
  std::optional<Instant> retry_at_;   // of the newest failure, if no start followed it (H2)
  std::optional<Instant> succeeded_;  // the start of the newest run that succeeded
  Member* runner_ = nullptr;
  Fence fence_;  // of the newest run
  EarlierRuns earlier_runs_;
};

}  // namespace dutiful::theory
