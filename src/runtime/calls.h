// Who calls initialize() and stop(), in which order, and what a trace is told of it.
#pragma once

#include <chrono>
#include <exception>
#include <optional>
#include <vector>

#include <dutiful/scheduler.h>

#include "sync/mutex.h"
#include "trace/event.h"

namespace dutiful {

// The lifecycle of a scheduler (RULES I2) as its callers see it, any thread of them.
//
// A call is told to the trace when it enters and when it returns (RULES H12), together with the
// change of the lifecycle that goes with it: so a trace never shows a scheduler that was idle
// refusing a list. What is told waits here until the loop has finished its step, since a start that
// was decided before a stop was called belongs before it.
class Calls {
 public:
  // The clock must outlive it. Without a trace, nothing is kept for one.
  Calls(const Clock& clock, Reinitialize policy, bool traced);

  // initialize(), to be left by either of leave_initialize().
  struct Initialization {
    CallNumber number;
    bool first;  // the scheduler had no list
  };
  // Under `reconcile`, waits for earlier calls, unless it was called from inside one of them.
  // Throws SchedulerAlreadyActiveError (RULES I4), and then the call has returned.
  enum class Caller { outside, inside_initialize };
  Initialization enter_initialize(std::vector<TracedRegistration> list, Caller caller);
  void leave_initialize() noexcept;
  void leave_initialize(const Initialization& call, const std::exception_ptr& error) noexcept;

  // stop() enters; nothing is decided to start from here on.
  [[nodiscard]] std::uint64_t enter_stop();
  enum class Stopped {
    yes,         // the call has returned
    almost,      // the loop has ended: clear away what there is, and leave_stop()
    not_by_now,  // the deadline has passed
  };
  // Waits for the initialize() that is in progress, and for the loop to end.
  using Deadline = std::optional<std::chrono::steady_clock::time_point>;
  [[nodiscard]] Stopped wait_for_stop(std::uint64_t number, Deadline deadline);
  // All stops have returned. Where ends could not be recorded, that is a crash for a trace (H5).
  enum class Ends { recorded, lost };
  void leave_stop(Ends ends) noexcept;

  // For the loop: what the trace is to be told by now, and what to do about stop().
  enum class Stop {
    no,
    soon,  // start nothing, but let the initialize() that is in progress end first (I5)
    now,
  };
  struct News {
    Instant now;
    Stop stop;
    std::vector<TracedEvent> events;
  };
  [[nodiscard]] News take();
  void loop_has_ended();

  [[nodiscard]] bool is_idle();

 private:
  enum class Lifecycle { uninitialized, initializing, running, stopping };

  [[nodiscard]] bool initialize_pending() const REQUIRES(mutex_) { return served_ != entered_; }
  [[nodiscard]] bool must_refuse() const REQUIRES(mutex_);
  [[noreturn]] void refuse(CallNumber number) REQUIRES(mutex_);
  void leave(Lifecycle next) noexcept REQUIRES(mutex_);
  void answer_stops() noexcept REQUIRES(mutex_);
  void answer_idle_stops() noexcept REQUIRES(mutex_);

  // Of a function that makes the event. If it fails, what it is about happens all the same.
  template <typename Make>
  void trace(Make make) noexcept REQUIRES(mutex_);

  const Clock& clock_;
  const bool reconciles_;
  const bool traced_;

  Mutex mutex_;
  Condition changed_;
  Lifecycle lifecycle_ GUARDED_BY(mutex_) = Lifecycle::uninitialized;
  Lifecycle before_initialize_ GUARDED_BY(mutex_) = Lifecycle::uninitialized;
  std::uint64_t calls_ GUARDED_BY(mutex_) = 0;
  std::uint64_t entered_ GUARDED_BY(mutex_) = 0;         // how many initialize() have been let in,
  std::uint64_t served_ GUARDED_BY(mutex_) = 0;          // and have returned
  std::vector<std::uint64_t> stops_ GUARDED_BY(mutex_);  // that have not ended
  bool loop_ended_ GUARDED_BY(mutex_) = false;
  bool clearing_ GUARDED_BY(mutex_) = false;  // a stop() is at it
  std::vector<TracedEvent> untraced_ GUARDED_BY(mutex_);
  Instant latest_ GUARDED_BY(mutex_) =
      Instant{};  // that the clock has shown to a call, in its range
};

}  // namespace dutiful
