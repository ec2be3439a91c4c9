// The scheduler: tasks that run when they are due, for as long as it lives and across restarts.
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
#include <dutiful/time.h>
#include <dutiful/zone.h>

namespace dutiful {

// A task: what it is called, when it is due, what it does, and how long after a failure it is tried
// again.
struct Registration {
  std::string name{};
  std::string cron{};
  Callback callback{};
  Duration retry_delay{};
  Duration time_limit{};  // past it the run is asked to stop, and has failed; zero: none (RULES X2)
};

// Where a scheduler takes the time from; a test may have its own. Safe to use from any thread.
//
// While it is outside the years 1 to 9999 initialize() throws ClockError, and a scheduler that runs
// starts nothing, tells ClockOutOfRange, and goes on when the clock is back.
class DUTIFUL_EXPORT Clock {
 public:
  virtual ~Clock() = default;
  [[nodiscard]] virtual Instant now() const = 0;
  // The time since some moment, by a clock that is never set: what durations are measured by.
  [[nodiscard]] virtual Duration monotonic() const;

  // Makes `descriptor()` readable at that instant, and whenever the clock is set. Replaces the
  // alarm before; Instant::max() is none.
  virtual void set_alarm(Instant instant) = 0;
  // Takes notice of an alarm, so that the descriptor is not readable any more.
  virtual void take_alarm() = 0;
  [[nodiscard]] virtual int descriptor() const = 0;
};

struct Options {
  std::string state{};  // an SQLite file, made where there is none; empty: nothing survives
  RepeatedMinutes repeated_minutes = RepeatedMinutes::both;
  Reinitialize reinitialize = Reinitialize::reject;
  Override override = Override::keep_history;
  std::size_t max_concurrent = 64;  // callbacks at one time (RULES X1)
  std::optional<Zone> zone{};       // the host's, if none
  std::shared_ptr<Clock> clock{};   // the system's, if none
  EventSink events{};               // is told what happens, if there is one (RULES V)

  // A file that every start, end, initialize, stop and crash is added to, across restarts, as
  // `dutiful verify` reads it; empty: none. For one scheduler at a time. One that is damaged is
  // renamed (the event TraceSetAside says how), and another begins.
  std::string trace{};
  // Judges that trace while it grows: what breaks the theory is the event TheoryViolated.
  bool verify = false;

  // Called by an initialize() that takes the state, once the state is held and was read, and before
  // anything in it changes or starts. Use it to clean up what a crashed process left behind. If it
  // throws, initialize() throws and changes nothing, except that a missing state may have been
  // created, without tasks. It runs on the thread of initialize(), which has a minute in all (RULES
  // L2), and must not call this scheduler. An invalid list, and one that is reconciled with the
  // list before, need no preparation.
  std::function<void()> prepare{};
};

// Two operations, and nothing else starts, stops, adds or triggers work (RULES I1).
//
//   dutiful::Scheduler scheduler{{.state = "jobs.db"}};
//   scheduler.initialize({
//       {"backup", "15 3 * * 1-5", [] { backup(); }, 5min},
//       {"refresh", "0,30 * * * *", [](dutiful::Run run) { refresh(std::move(run)); }, 30s},
//   });
//   …
//   scheduler.stop();
//
// A task never overlaps itself. A run that throws has failed and is tried again after its retry
// delay. What was due while the process was down is run once; a run that a crash interrupted is
// started again. Callbacks run on threads of the scheduler's.
//
// Both operations block until they are done, and may be called from any thread.
class DUTIFUL_EXPORT Scheduler {
 public:
  // Throws ZoneError; TraceError where the trace cannot be added to.
  explicit Scheduler(const Options& options = {});
  // Stops. Must not be called by a callback of its own.
  // NOLINTNEXTLINE(bugprone-exception-escape): that ends the process.
  ~Scheduler();
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  // Checks everything before it changes anything: where it throws an error of RULES E, nothing has
  // changed, unless that is a StoreError which is in doubt.
  void initialize(std::vector<Registration> registrations);

  // Starts nothing any more, and returns when every running callback has ended. Safe to call at any
  // time and from several threads, but not from a callback of the same scheduler, which gets a
  // StopSchedulerError. So does a stop whose last ends could not be recorded for some seconds: it
  // has stopped all the same, and those runs will be started again as interrupted.
  //
  // Running callbacks are asked to end (RunInfo::stop), but never forced to.
  void stop();

  // The same, but returns after so long, with the names of the tasks whose runs go on. None: it has
  // stopped. Otherwise it is still stopping, holds its state and starts nothing; a later stop()
  // waits on. An initialize() in progress, and the record of the last end, are waited for in any
  // case.
  [[nodiscard]] std::vector<std::string> stop(Duration patience);

 private:
  friend class PendingStop;
  class DUTIFUL_HIDDEN Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace dutiful
