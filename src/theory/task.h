// The past of one task, and the macros of the theory that speak of it.
#pragma once

#include <cstdint>
#include <list>
#include <optional>
#include <string>

#include <dutiful/time.h>

#include "theory/compute.h"
#include "theory/temporal.h"
#include "trace/event.h"

namespace dutiful::theory {

struct Schedule;

// x, told of every position at which something happens to it. A task's past belongs to its name
// (RULES H4).
class Task {
 public:
  explicit Task(std::string name) : name_(std::move(name)) {}
  [[nodiscard]] const std::string& name() const { return name_; }

  // Running_x := Hold(RS_x, RE_x ∨ Crash)
  [[nodiscard]] bool running() const { return bool{running_}; }

  // DuePending_x := Hold⁺(Due_x, RS_x ∨ FirstComing_x) ∧ ¬Running_x
  [[nodiscard]] bool due_pending() const { return due_ && !running_; }

  // RetryPending_x := Hold⁺(RetryDue_x, RS_x ∨ FirstComing_x) ∧ ¬Running_x
  [[nodiscard]] bool retry_pending() const { return retry_ && !running_; }

  // OrphanedPending_x := Hold(Orphaned_x, RS_x ∨ FirstComing_x)
  // where Orphaned_x := Crash ∧ Y Running_x
  //
  // The theory writes Hold(RS_x, RE_x) for Y Running_x. That would hold on after the crash, and let
  // a second crash interrupt a run that the first has ended and a first coming forgotten.
  [[nodiscard]] bool orphaned_pending() const { return orphaned_ && !running_; }

  // BootDuePending_x := Hold(FirstComing_x ∧ MountainDue_x, RS_x) ∧ ¬Running_x (RULES H1)
  [[nodiscard]] bool boot_due_pending() const { return boot_due_ && !running_; }

  // Pending_x := DuePending_x ∨ RetryPending_x ∨ OrphanedPending_x ∨ BootDuePending_x
  [[nodiscard]] bool pending() const {
    return due_pending() || retry_pending() || orphaned_pending() || boot_due_pending();
  }

  // What each position does to it.
  void due(Instant at);                                // Due_x
  void retry_due();                                    // RetryDue_x
  void run_start(Instant at);                          // RS_x
  void run_end();                                      // RE_x
  void run_failure(Instant at, Duration retry_delay);  // REf_x, after RE_x
  void crash(Instant at);                              // Crash
  void first_coming(Instant at, bool mountain_due);    // FirstComing_x
  void forget_pulses() { due_.step(false, true); }     // another schedule is registered
  void forget_successes();                             // RULES H8

  // Since when each obligation is pending, for those that are to understand a verdict.
  [[nodiscard]] std::string why_pending() const;

  // AtMostOne(Due_x, RSucc_x) := G(RSucc_x → X(¬RSucc_x W Due_x))
  // where RSucc_x := RS_x ∧ (¬(REf_x ∨ Crash) U REs_x)
  //
  // The run that has just succeeded began after the start of another that did; these are the two
  // starts, where both count.
  struct Successes {
    Instant first, second;
  };
  std::optional<Successes> succeed();

  // Its part in Monitor::digest().
  [[nodiscard]] std::uint64_t digest(Instant now, Duration horizon) const;

  // Pulses up to here are served or forgotten.
  [[nodiscard]] Instant cleared() const { return cleared_; }
  [[nodiscard]] Instant started() const { return started_; }
  // Its last run was interrupted by a crash, and there was no start since.
  [[nodiscard]] bool interrupted() const { return interrupted_; }
  [[nodiscard]] std::optional<Instant> retry_at() const { return retry_at_; }

  // How it is registered; belongs to the monitor.
  const TracedRegistration* registration = nullptr;  // null: it is not
  Schedule* schedule = nullptr;
  bool awaits_pulse = false;  // it is among those that its schedule will tell

  // The obligation that L1 bounds; belongs to the monitor.
  std::optional<Micros> owed_since{};  // what compute had been granted then
  Instant owed_at{};
  bool overdue = false;  // its budget has run out, which has been told
  std::list<Task*>::iterator owed{};

 private:
  std::string name_;
  Hold running_;
  HoldPlus due_;
  HoldPlus retry_;
  Hold orphaned_;
  Hold boot_due_;
  bool interrupted_ = false;
  bool counts_ = false;  // the run began after the newest first coming and change of the schedule
  Instant cleared_{};
  Instant started_{};
  Instant due_at_{};
  Instant orphaned_at_{};
  Instant came_{};
  std::optional<Instant> retry_at_;   // of the newest failure, where no start came after it (H2)
  std::optional<Instant> succeeded_;  // the start of the newest run that did
};

}  // namespace dutiful::theory
