// The scheduler as a state machine: which tasks are owed a run, and when the next one will be.
#pragma once

#include <vector>

#include "core/entry_queue.h"
#include "core/obligations.h"
#include "core/plan.h"
#include "core/schedules.h"

namespace dutiful {

// The decision to run a task, with everything that its receivers need: they do not read the core
// again. It holds once it is durable. Until then it can be undone.
struct Start {
  TaskId task;
  std::uint32_t registration;  // the task's place in the list that is registered
  // A copy, because the core's names move when a list is registered. The runtime moves it into the
  // RunInfo.
  std::string name;
  Reason reason;
  bool preempts_retry;  // a retry was waiting, and this start is not that retry (K6)
  std::uint32_t attempt;
  std::uint32_t retries;  // how many of the attempts were retries
  std::uint64_t fence;
  std::uint64_t recurrence;
  Instant at;
  Instant pulse;
  Instant scheduled;   // of a retry the retry instant, otherwise the pulse
  Instant owed_since;  // when its obligation arose (K2)
  // It serves the pulses after `served_before`, up to and including `served_until` (T6).
  Instant served_before;
  Instant served_until;

  // The task before this start, for undo().
  struct Before {
    TaskProgress progress;
    Instant due_since;
  } before;
};

// A task whose record lies too far in the future, because the clock has been set back (T7).
struct ClockCorrection {
  TaskId task;
  Instant persisted;  // its served_until by the previous clock
};

enum class Outcome : std::uint8_t { success, failure };

// The scheduler without I/O, threads or a clock: values in, decisions out. A copy is another
// scheduler in the same state.
class Core {
 public:
  Core(Calendar calendar, std::size_t max_concurrent);

  // A task that was removed while it ran, and is registered again, waits for that run to end (I4).
  // Marks such tasks as running in the plan, and so in the state, because the run may still be
  // interrupted.
  void adopt_running(Plan& plan) const;

  // Registers the planned tasks in place of the registered ones. Tasks that run continue to run. A
  // task that the plan does not name keeps its number until its run ends.
  void apply(const Plan& plan, Instant now);
  // The rows of the applied tasks in the store, in the plan's order.
  void place(const std::vector<std::int64_t>& rows) noexcept;

  // A run has ended, here or elsewhere. Requires that the task runs. If memory runs out, nothing
  // changes; the same holds for interrupt() and start_due(). undo() needs no memory.
  void end(TaskId id, Outcome outcome, Instant now);
  // A run has ended without a result, for example because its member has died. The task is started
  // again at once (K2, orphan).
  void interrupt(TaskId id, Instant now);

  // The end of a run could not be recorded, and is about to be recorded now, which is when it
  // counts from (K5, H5). Requires that the task has not been started since.
  void postpone_end(TaskId id, Instant now);

  // Follows a clock that has been set back by more than a DST change: pulses after `now` count
  // again (T7). Adds the tasks whose progress changed. Does nothing for any other clock.
  void follow_clock(Instant now, std::vector<ClockCorrection>& corrections);

  // Starts the tasks that are owed a run at `now` and may run: earliest due first, then by name
  // (X1).
  [[nodiscard]] std::vector<Start> start_due(Instant now, std::size_t limit = ~std::size_t{0});

  // A start was recorded only at `now`, which is when it counts from: it serves every pulse up to
  // then (K3). Requires that the task runs since.
  void postpone_start(TaskId id, Instant now) noexcept;

  // Takes back starts that could not be made durable. Their obligations are pending again. Their
  // fences are not used again: the failed transaction may have reached the disk (P8).
  void undo(const std::vector<Start>& starts) noexcept;

  // When start_due() will next have something to do, if nothing else happens; Instant::max() if
  // never. May be in the past.
  [[nodiscard]] Instant next_wake() const;

  struct Task {
    std::string name;
    Duration retry_delay{};
    TaskProgress progress;
    Account account{};
    std::uint32_t registration = 0;  // its place in the list that registered it
    Schedules::Number schedule = 0;  // while it is registered
    std::uint32_t rank = 0;          // the place of the name in byte order
    bool registered = false;
    bool in_use = false;     // registered or running here
    bool elsewhere = false;  // it runs, but not here: the run does not count for max_concurrent
    std::int64_t row = PlannedTask::no_row;
    // The earliest unserved pulse that was delivered to it. Set by deliver(), apply() and
    // undo(). Everything else asks due_since(), which also knows a pulse on its way to the task.
    Instant delivered_due = no_instant;
    Instant queued_since = no_instant;  // the key of its entry in ready_; no_instant: none
  };
  [[nodiscard]] const Task& task(TaskId id) const { return tasks_[id]; }
  [[nodiscard]] TaskId id_of(const Task& task) const {
    return static_cast<TaskId>(&task - tasks_.data());
  }
  [[nodiscard]] std::size_t running() const { return running_; }
  // Whether tasks wait because as many run as may run at once (X1).
  [[nodiscard]] bool is_limited() const {
    return at_capacity() && (!ready_.empty() || schedules_.is_delivering());
  }
  // The account of a task after a start. The core only keeps it.
  void set_account(TaskId id, const Account& account) noexcept { tasks_[id].account = account; }
  [[nodiscard]] const Schedules& schedules() const { return schedules_; }
  // Of a registered task.
  [[nodiscard]] const CronExpression& cron(const Task& task) const {
    return schedules_.cron(task.schedule);
  }
  [[nodiscard]] const std::string& cron_text(const Task& task) const {
    return schedules_.text(task.schedule);
  }
  // The earliest pulse that a registered task is owed a run for, delivered or not; no_instant:
  // none.
  [[nodiscard]] Instant due_since(const Task& task) const {
    return earliest_due(task, schedules_.under_delivery(task.schedule));
  }
  // Entries in all queues, stale ones included: bounded by the tasks, not by time (X3).
  [[nodiscard]] std::size_t queued() const {
    return schedules_.queued() + retries_.size() + ready_.size();
  }

  template <typename Visitor>
  void for_each_registered(Visitor visit) const {
    for (const Task& task : tasks_) {
      if (task.registered) visit(task);
    }
  }

  // Registered or not.
  template <typename Visitor>
  void for_each_running(Visitor visit) const {
    for (const Task& task : tasks_) {
      if (task.in_use && task.progress.state == TaskState::running) visit(task);
    }
  }

  // The registered tasks, and the fence, as a store would hold them.
  [[nodiscard]] StoredState stored() const;

 private:
  // The earlier of the pulse that the task is owed a run for already and the given one, unless that
  // is served: a start serves every pulse up to it (T7).
  [[nodiscard]] static Instant earliest_due(const Task& task, Instant pulse) {
    if (task.delivered_due != no_instant) return task.delivered_due;
    return pulse > task.progress.served_until ? pulse : no_instant;
  }
  [[nodiscard]] Obligations pending(const Task& task, Instant now) const {
    return obligations_of(task.progress, due_since(task), now);
  }
  [[nodiscard]] bool at_capacity() const {
    return max_concurrent_ != 0 && running_ >= max_concurrent_;
  }
  [[nodiscard]] std::size_t startable(std::size_t limit) const;

  void take_pulses(Instant now);
  void deliver(const Schedules::Delivery& delivery, Instant now);
  void deliver_rest(Schedules::Number schedule, Instant now);
  void take_retries(Instant now);
  [[nodiscard]] bool find_ready(Instant now);
  void make_ready(TaskId id, Instant now);
  void await_retry(TaskId id);
  [[nodiscard]] Start start(TaskId id, Instant now);
  void leave_run(TaskId id);

  std::size_t max_concurrent_;
  std::vector<Task> tasks_;
  std::vector<TaskId> free_;
  Schedules schedules_;
  EntryQueue retries_;  // stale if the task's retry_at is another
  EntryQueue ready_;    // stale if the task's queued_since is another
  std::size_t awaiting_retry_ = 0;
  std::size_t running_ = 0;      // here
  Instant latest_ = no_instant;  // the latest `now` since the clock was last corrected
  std::uint64_t fence_ = 0;      // of the newest start
};

}  // namespace dutiful
