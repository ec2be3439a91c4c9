// The scheduler as a state machine: which tasks are owed a run, and when the next one will be.
#pragma once

#include <vector>

#include "core/plan.h"

namespace dutiful {

// The number of a task in the core: the same as long as it is registered or runs.
using TaskId = std::uint32_t;

// A decision to run a task, with everything its receivers need: they do not read the core again. It
// holds once it is durable, and can be undone until then.
struct Start {
  TaskId task;
  std::uint32_t registration;  // the task's place in the list that is registered
  // A copy: the core's own moves when a list is registered. The runtime moves it into the RunInfo.
  std::string name;
  Reason reason;
  bool preempts_retry;  // a retry was waiting, and this is not it (K6)
  std::uint32_t attempt;
  std::uint32_t retries;  // how many of the attempts were retries
  std::uint64_t fence;
  std::uint64_t recurrence;
  Instant at;
  Instant pulse;
  Instant scheduled;   // the pulse, of an orphan that of the interrupted run; or the retry instant
  Instant owed_since;  // when its obligation arose (K2)
  // It serves the pulses after `served_before`, up to and including `served_until` (T6).
  Instant served_before;
  Instant served_until;

  // What the task was before, for undo().
  struct Before {
    TaskProgress progress;
    Instant due_since;
  } before;
};

// A task whose past lay too far in the future: the clock has been set back (T7).
struct ClockCorrection {
  TaskId task;
  Instant persisted;  // what it was served until by the clock before
};

enum class Outcome : std::uint8_t { success, failure };

// No I/O, no threads, no clock: values in, decisions out. A copy is another scheduler in the same
// state.
//
// Equal schedules are kept once, and pulses come from a queue over schedules: a minute in which
// nothing is due costs nothing, however many tasks there are. Tasks are told of a pulse when their
// turn comes, not before: the first of a million starts as soon as the only one.
class Core {
 public:
  Core(Calendar calendar, std::size_t max_concurrent);

  // A name that was removed while its run went on, and is here again, waits for that run to end
  // (I4): lets the plan say so, and with it the state, for the run may yet be interrupted.
  void carry_runs(Plan& plan) const;

  // Registers the planned tasks in place of those before. Runs that go on are kept: of a task that
  // the plan does not name until they end, and its number with them.
  void apply(const Plan& plan, Instant now);
  // The places in the store of the tasks that were applied last, in the plan's order.
  void place(const std::vector<std::int64_t>& rows) noexcept;

  // A run has ended. Requires that the task runs. Where memory runs out nothing has changed, here
  // and in start_due(); undo() needs none.
  void end(TaskId id, Outcome outcome, Instant now);

  // The end of a run could not be recorded then, and is to be now. It counts from when it is (K5,
  // H5). Requires that the task has not been started since.
  void postpone_end(TaskId id, Instant now);

  // Goes by a clock that has been set back by more than a DST change: pulses after `now` count
  // again (T7). Adds the tasks whose progress that has changed; none for any other clock.
  void follow_clock(Instant now, std::vector<ClockCorrection>& corrections);

  // Starts what is owed a run at `now` and may run: earliest due first, then by name (X1).
  [[nodiscard]] std::vector<Start> start_due(Instant now, std::size_t limit = ~std::size_t{0});

  // Takes back decisions that could not be made durable. The obligations stand as before. Fences
  // are not handed out again: what could not be recorded may be on the disk all the same (P8).
  void undo(const std::vector<Start>& starts) noexcept;

  // When start_due() will next have something to do, if nothing else happens; Instant::max() if
  // never. May be in the past.
  [[nodiscard]] Instant next_wake() const;

  struct Task {
    std::string name;
    Duration retry_delay{};
    TaskProgress progress;
    std::uint32_t registration = 0;  // its place in the list it came with
    std::uint32_t schedule = 0;      // while it is registered
    std::uint32_t rank = 0;          // the place of the name in byte order
    bool registered = false;
    bool in_use = false;  // registered or running
    std::int64_t row = PlannedTask::no_row;
    Instant due_since = no_instant;     // the earliest unserved pulse it was told of
    Instant queued_since = no_instant;  // the key of its entry in ready_; no_instant: none
  };
  [[nodiscard]] const Task& task(TaskId id) const { return tasks_[id]; }
  [[nodiscard]] std::size_t running() const { return running_; }
  // Of a registered task.
  [[nodiscard]] const CronExpression& cron(const Task& task) const {
    return schedules_[task.schedule].cron;
  }
  [[nodiscard]] const std::string& cron_text(const Task& task) const {
    return schedules_[task.schedule].text;
  }
  // Entries in all queues, stale ones included: bounded by the tasks, not by time (RULES X3).
  [[nodiscard]] std::size_t queued() const {
    return pulses_.size() + telling_.size() + retries_.size() + ready_.size();
  }
  // The earliest unserved pulse of a task; no_instant: none.
  [[nodiscard]] Instant due_since(const Task& task) const;

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
  struct Schedule {
    std::string text;
    CronExpression cron;
    std::vector<TaskId> tasks;   // by rank
    Instant pulse = no_instant;  // the one its tasks are being told of; no_instant: all have been
    std::size_t told = 0;        // how many of them
  };
  // An entry of a queue, the earliest first. An entry whose task has moved on is passed over.
  struct Entry {
    Instant at;
    std::uint32_t rank;
    TaskId id;
    friend bool operator<(const Entry& a, const Entry& b) {  // std's heaps keep the greatest first
      return a.at != b.at ? a.at > b.at : a.rank > b.rank;
    }
  };

  void await_pulse(std::uint32_t number, Instant now);
  void take_pulses(Instant now);
  void tell(TaskId id, Instant now);
  void tell_next(Instant now);
  void tell_rest(Schedule& schedule, Instant now);
  [[nodiscard]] bool find_ready(Instant now);
  void take_retries(Instant now);
  void make_ready(TaskId id, Instant now);
  void await_retry(TaskId id);
  [[nodiscard]] std::size_t startable(std::size_t limit) const;
  [[nodiscard]] Start start(TaskId id, Instant now);
  [[nodiscard]] bool at_capacity() const {
    return max_concurrent_ != 0 && running_ >= max_concurrent_;
  }

  Calendar calendar_;
  std::size_t max_concurrent_;
  std::vector<Task> tasks_;
  std::vector<TaskId> free_;
  std::vector<Schedule> schedules_;
  std::vector<Entry> pulses_;  // heap, an entry a schedule; id is the schedule's number
  std::vector<Entry>
      telling_;  // heap, of a schedule its next task; stale where the schedule has another pulse
  std::vector<Entry> retries_;  // heap; stale where the task's retry_at is another
  std::vector<Entry> ready_;    // heap; stale where the task's queued_since is another
  std::size_t awaiting_retry_ = 0;
  std::size_t running_ = 0;
  Instant latest_ = no_instant;  // the latest `now` since the clock was last corrected
  std::uint64_t fence_ = 0;      // of the newest start
};

}  // namespace dutiful
