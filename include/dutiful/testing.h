// For tests of what one builds on dutiful: time in one's own hands.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>

#include <dutiful/export.h>
#include <dutiful/scheduler.h>

namespace dutiful {

class Bell;

// A clock that stands still until it is told otherwise.
//
//   auto clock = std::make_shared<dutiful::ManualClock>(instant);
//   dutiful::Scheduler scheduler{{.zone = dutiful::Zone::utc(), .clock = clock}};
//   scheduler.initialize({{"hourly", "0 * * * *", [] { … }, 1min}});
//   clock->advance(1h);   // returns when what has become due has been started
//
// For one scheduler at a time.
class DUTIFUL_EXPORT ManualClock : public Clock {
 public:
  explicit ManualClock(Instant now);
  ~ManualClock() override;
  ManualClock(const ManualClock&) = delete;
  ManualClock& operator=(const ManualClock&) = delete;

  // Sets the clock, forward or back, and waits until the scheduler has taken notice.
  void set(Instant now);
  // The same, and so much time has passed: it counts for durations.
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
  std::uint64_t alarms_ = 0;  // how often one was set
};

// The scheduler in virtual time, for tests of one's own schedules: no threads, no waiting.
// Everything that is due happens in the caller's thread, at exactly the instant it is due.
//
//   dutiful::VirtualScheduler scheduler{instant, {.zone = dutiful::Zone::load("Europe/Berlin")}};
//   scheduler.initialize({{"report", "0 8 * * 1", [&] { ++reports; }, 5min}});
//   scheduler.advance(std::chrono::days{365});
//   assert(reports == 52);
//
// A callback that takes a Run may keep it and settle it later; virtual time goes on meanwhile.
// Errors are those of Scheduler. Of the options, `state`, `clock`, `trace` and `verify` do not
// count: it remembers in memory, and crash() forgets all but that.
class DUTIFUL_EXPORT VirtualScheduler {
 public:
  // Throws ClockError for an instant outside the years 1 to 9999.
  explicit VirtualScheduler(Instant now, Options options = {});
  ~VirtualScheduler();
  VirtualScheduler(const VirtualScheduler&) = delete;
  VirtualScheduler& operator=(const VirtualScheduler&) = delete;

  void initialize(std::vector<Registration> registrations);
  // Runs that were kept are asked to end (RunInfo::stop). They must be settled then, or before;
  // throws StopSchedulerError otherwise, and goes on.
  void stop();
  // As if the process had died: runs that are going on are interrupted.
  void crash();

  // Throws ClockError if that leads out of the years 1 to 9999, and then nothing has happened.
  void advance(Duration duration);
  [[nodiscard]] Instant now() const;

 private:
  class DUTIFUL_HIDDEN Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace dutiful
