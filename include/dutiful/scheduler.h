// The scheduler: runs tasks when they are due, also across restarts and crashes.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <dutiful/calendar.h>
#include <dutiful/errors.h>
#include <dutiful/events.h>
#include <dutiful/export.h>
#include <dutiful/policies.h>
#include <dutiful/run.h>
#include <dutiful/status.h>
#include <dutiful/time.h>
#include <dutiful/zone.h>

namespace dutiful {

// A task, as initialize() takes it.
struct Registration {
  std::string name{};      // unique in the list; identifies the task across restarts
  std::string cron{};      // when it is due: a POSIX cron expression, see CronExpression
  Callback callback{};     // what it does
  Duration retry_delay{};  // how long after a failure it is retried; zero: at once (RULES K5)
  // A run that takes longer is asked to stop, and fails however it ends (RULES X2). Zero: no limit.
  Duration time_limit{};
};

// The time, as a scheduler sees it. The default is the host's wall clock; a test may supply another
// (see ManualClock). An implementation must be safe to use from any thread, and must not call the
// scheduler.
//
// While the clock shows a time outside the years 1 to 9999, initialize() throws ClockError, and a
// running scheduler starts nothing. It reports ClockOutOfRange, and continues when the clock is
// back in range.
class DUTIFUL_EXPORT Clock {
 public:
  virtual ~Clock() = default;
  [[nodiscard]] virtual Instant now() const = 0;
  // The time since an arbitrary moment, which must never step. Measures durations.
  [[nodiscard]] virtual Duration monotonic() const;

  // Makes `descriptor()` readable at that instant, and whenever the clock is set. Replaces the
  // previous alarm; Instant::max() removes it.
  virtual void set_alarm(Instant instant) = 0;
  // Acknowledges the alarm: the descriptor is no longer readable.
  virtual void take_alarm() = 0;
  // A file descriptor for poll(2).
  [[nodiscard]] virtual int descriptor() const = 0;
};

struct Options {
  // The state: an SQLite file, which is created if it is missing. One scheduler holds it at a time.
  // Empty: the state is kept in memory and is lost with the scheduler.
  std::string state{};

  RepeatedMinutes repeated_minutes = RepeatedMinutes::both;
  Reinitialize reinitialize = Reinitialize::reject;
  Override override = Override::keep_history;

  // How many runs may be in progress at the same time (RULES X1). Further tasks wait for their
  // turn, the one that has been owed a run the longest first. 0: no bound on runs. Callbacks then
  // share at most 1,024 threads; one that takes a Run and returns frees its thread.
  std::size_t max_concurrent = 64;

  std::optional<Zone> zone{};      // default: the host's
  std::shared_ptr<Clock> clock{};  // default: the system's
  EventSink events{};              // receives the events (RULES V), if it is set

  // The trace: a file to which every start, end, initialize, stop and crash is added, across
  // restarts. `dutiful verify` checks it. Empty: none. One scheduler uses it at a time. A damaged
  // trace is renamed and a new one begun; the event TraceSetAside names both.
  std::string trace{};
  // Checks the trace while it is written. The event TheoryViolated reports each violation.
  bool verify = false;

  // Called by initialize() once the state is held and read, before anything in it changes or
  // starts. Use it to clean up what a crashed process left behind. If it throws, initialize()
  // throws and changes nothing, except that a missing state may have been created, without tasks.
  //
  // It runs on the thread that called initialize(), which should return within a minute (RULES L2),
  // and must not call this scheduler, except status(). It is not called for an invalid list, nor
  // for one that is reconciled with the previous list.
  std::function<void()> prepare{};
};

// Runs the tasks of a list when they are due.
//
//   dutiful::Scheduler scheduler{{.state = "jobs.db"}};
//   scheduler.initialize({
//       {"backup", "15 3 * * 1-5", [] { backup(); }, 5min},
//       {"refresh", "0,30 * * * *", [](dutiful::Run run) { refresh(std::move(run)); }, 30s},
//   });
//   …
//   scheduler.stop();
//
// There are two operations. Nothing else starts, stops, adds or triggers work (RULES I1). Both
// block until they are done, and may be called from any thread. docs/concurrency.md says what they
// wait for. status() only reads.
//
// A task never runs twice at the same time. If a callback throws, its run has failed, and is
// retried after the retry delay. If the process was down when a task was due, the task runs once
// after the restart, however many pulses it missed. A run that a crash interrupted is started
// again. Callbacks run on the scheduler's threads.
//
// A scheduler that has stopped can be initialized again.
class DUTIFUL_EXPORT Scheduler {
 public:
  // Throws ZoneError, TraceError if the trace cannot be used, and InitializeSchedulerError if the
  // host refuses something else, such as a descriptor; and std::bad_alloc. Opens the trace, but not
  // the state: initialize() does.
  explicit Scheduler(const Options& options = {});
  // Stops, if necessary, and ignores the errors of that. Must not be called by a callback of the
  // same scheduler.
  // NOLINTNEXTLINE(bugprone-exception-escape): that ends the process.
  ~Scheduler();
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  // Takes the list, makes it durable, and starts to run its tasks. A task of the previous list
  // keeps its history; a task that is not in the new list is removed (RULES P2).
  //
  // Throws the errors of RULES E, all derived from Error. It checks everything before it changes
  // anything: if it throws, nothing has changed, unless the error is a StoreError that is in doubt.
  // On a running scheduler it throws SchedulerAlreadyActiveError, or replaces the list (see
  // Reinitialize).
  void initialize(std::vector<Registration> registrations);

  // Starts nothing more, and returns when every run has ended. Runs are asked to end
  // (RunInfo::stop), but never forced to. Returns at once if there is nothing to stop. May be
  // called at any time, and by several threads at once.
  //
  // Throws StopSchedulerError if a callback of the same scheduler calls it, because it would wait
  // for itself; and if the last ends could not be recorded for some seconds. In that case the
  // scheduler has stopped nevertheless, and those runs count as interrupted: the next scheduler on
  // the state starts them again.
  void stop();

  // The same, but waits for the runs no longer than `patience`. Returns the names of the tasks
  // whose runs have not ended. If there are none, the scheduler has stopped. Otherwise it is still
  // stopping, and stops when the last of them has ended, as status() shows. Until then it holds its
  // state and starts nothing, and a later stop() continues to wait. An initialize() in progress,
  // and the record of the last end, are waited for in any case.
  [[nodiscard]] std::vector<std::string> stop(Duration patience);

  // The lifecycle, and for each task its state, its newest run, and when and why it is due. May be
  // called at any time from any thread, also by a callback, by the sink, by Options::prepare, and
  // while initialize() or stop() is in progress.
  //
  // Neither side waits for the other: it takes no lock that is held over a commit or a callback,
  // and does not delay the scheduler, however many tasks there are. It shows what is durable: a run
  // appears when its start is recorded, and ends when its end is recorded.
  //
  // Throws std::bad_alloc, and what Clock::now() throws.
  [[nodiscard]] SchedulerStatus status() const;

 private:
  friend class JudgementProbe;
  friend class LoopProbe;
  friend class PendingStop;
  class DUTIFUL_HIDDEN Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace dutiful
