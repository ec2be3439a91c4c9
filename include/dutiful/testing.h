// For tests of programs that use dutiful: a clock set by hand, and a scheduler in virtual time.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include <dutiful/export.h>
#include <dutiful/scheduler.h>

namespace dutiful {

class Bell;

// A clock that shows the same time until the test changes it.
//
//   auto clock = std::make_shared<dutiful::ManualClock>(instant);
//   dutiful::Scheduler scheduler{{.zone = dutiful::Zone::utc(), .clock = clock}};
//   scheduler.initialize({{"hourly", "0 * * * *", [] { … }, 1min}});
//   clock->advance(1h);   // returns when the tasks that became due have started
//
// One scheduler uses it at a time. The test's threads and callbacks may set it; the sink,
// Options::prepare and stop callbacks must not.
class DUTIFUL_EXPORT ManualClock : public Clock {
 public:
  explicit ManualClock(Instant now);
  ~ManualClock() override;
  ManualClock(const ManualClock&) = delete;
  ManualClock& operator=(const ManualClock&) = delete;

  // Sets the clock, forward or back, and waits until the scheduler has noticed. Durations, such as
  // that of a run, do not change.
  void set(Instant now);
  // Lets time pass: sets the clock, and adds to durations.
  void advance(Duration duration);

  [[nodiscard]] Instant now() const override;
  [[nodiscard]] Duration monotonic() const override;
  void set_alarm(Instant instant) override;
  void take_alarm() override;
  [[nodiscard]] int descriptor() const override;

 private:
  std::unique_ptr<Bell> bell_;
  mutable std::mutex mutex_;
  std::condition_variable alarm_set_;
  Instant now_;
  Duration monotonic_{};
  Instant alarm_ = Instant::max();
  std::uint64_t alarms_ = 0;  // how many were set
};

// A VirtualScheduler cannot go on, because a task without a retry delay fails again and again at
// the same instant.
class DUTIFUL_EXPORT VirtualTimeError : public Error {
 public:
  explicit VirtualTimeError(std::string task_name);
  [[nodiscard]] std::string_view name() const noexcept override { return "VirtualTimeError"; }
  [[nodiscard]] std::vector<ErrorField> fields() const override;
  [[nodiscard]] const std::string& task_name() const noexcept { return task_name_; }

 private:
  std::string task_name_;
};

// The scheduler in virtual time, for tests of schedules and callbacks. It has no threads and never
// waits: everything happens on the caller's thread, at exactly the instant it is due.
//
//   dutiful::VirtualScheduler scheduler{instant, {.zone = dutiful::Zone::load("Europe/Berlin")}};
//   scheduler.initialize({{"report", "0 8 * * 1", [&] { ++reports; }, 5min}});
//   scheduler.advance(std::chrono::days{365});
//   assert(reports == 52);
//
// A callback that takes a Run may keep it and settle it later, while virtual time passes. Errors
// are those of Scheduler, and VirtualTimeError, which initialize() and advance() throw. The options
// `state`, `clock`, `trace` and `verify` are ignored: the state is kept in memory, and survives
// crash() and stop().
//
// Not thread-safe: call it, and settle its runs, on one thread.
class DUTIFUL_EXPORT VirtualScheduler {
 public:
  // Throws ClockError for an instant outside the years 1 to 9999.
  explicit VirtualScheduler(Instant now, Options options = {});
  ~VirtualScheduler();
  VirtualScheduler(const VirtualScheduler&) = delete;
  VirtualScheduler& operator=(const VirtualScheduler&) = delete;

  void initialize(std::vector<Registration> registrations);
  // Asks the runs in progress to end (RunInfo::stop). If one is not settled by then, throws
  // StopSchedulerError, and the scheduler continues to run.
  void stop();
  // As if the process had died. Runs in progress are interrupted, and the scheduler is
  // uninitialized.
  void crash();

  // Lets time pass, and does everything that is due meanwhile. A negative duration sets the clock
  // back. Throws ClockError, and does nothing, if that leads outside the years 1 to 9999.
  void advance(Duration duration);
  [[nodiscard]] Instant now() const;

  // As Scheduler::status(), at now().
  [[nodiscard]] SchedulerStatus status() const;

 private:
  class DUTIFUL_HIDDEN Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace dutiful
