// The calls of initialize() and stop(): their order, and their trace.
#pragma once

#include <chrono>
#include <exception>
#include <optional>
#include <vector>

#include <dutiful/scheduler.h>

#include "sync/mutex.h"
#include "trace/event.h"

namespace dutiful {

// The lifecycle of a scheduler (RULES I2) as its callers see it. Any thread may call.
//
// A call is traced when it enters and when it returns (RULES H12), together with the change of the
// lifecycle that it causes. So a trace never shows that an idle scheduler rejected a valid list.
// The events wait here until the loop has finished its step, because a start that was decided
// before a stop() entered must precede it in the trace.
class Calls {
 public:
  // The clock must outlive it. Without a trace, no events are kept.
  Calls(const Clock& clock, Reinitialize policy, bool is_traced);

  // An initialize() in progress, which one of the leave_initialize() ends.
  struct Initialization {
    CallNumber number;
    bool first;  // the scheduler had no list
  };
  // With `reconcile`, waits for earlier calls, unless it is called from inside one of them. Throws
  // SchedulerAlreadyActiveError (RULES I4); the call has then returned.
  enum class Caller { outside, inside_initialize };
  Initialization enter_initialize(std::vector<TracedRegistration> list, Caller caller);
  void leave_initialize() noexcept;
  void leave_initialize(const Initialization& call, const std::exception_ptr& error) noexcept;

  // stop() enters. No start is decided after this. Returns the number of the call.
  [[nodiscard]] std::uint64_t enter_stop();
  enum class StopProgress {
    done,             // the call has returned
    loop_ended,       // the caller releases what is left, and then calls leave_stop()
    deadline_passed,  // the call goes on
  };
  // Waits for the initialize() in progress, and until the loop has ended.
  using Deadline = std::optional<std::chrono::steady_clock::time_point>;
  [[nodiscard]] StopProgress wait_for_stop(std::uint64_t number, Deadline deadline);
  // Every stop() returns. To the trace, ends that could not be recorded are a crash (H5).
  enum class Ends { recorded, lost };
  void leave_stop(Ends ends) noexcept;

  // For the loop: the events to trace since the last call, and what to do about stop().
  enum class Stop {
    no,
    soon,  // start nothing, but let the initialize() in progress end first (I5)
    now,
  };
  struct News {
    Instant now;
    Stop stop;
    std::vector<TracedEvent> events;
  };
  [[nodiscard]] News take();
  void loop_has_ended();

  // Whether there is no list, and none is being applied.
  [[nodiscard]] bool is_idle();

 private:
  enum class Lifecycle { uninitialized, initializing, running, stopping };

  [[nodiscard]] bool initialize_pending() const REQUIRES(mutex_) { return served_ != entered_; }
  [[nodiscard]] bool must_reject() const REQUIRES(mutex_);
  [[noreturn]] void reject(CallNumber number) REQUIRES(mutex_);
  void leave(Lifecycle next) noexcept REQUIRES(mutex_);
  void answer_stops() noexcept REQUIRES(mutex_);
  void answer_idle_stops() noexcept REQUIRES(mutex_);

  // Traces the event that the function makes. If that fails, the event is lost, and the call
  // continues.
  template <typename Make>
  void trace(Make make) noexcept REQUIRES(mutex_);

  const Clock& clock_;
  const bool reconciles_;
  const bool is_traced_;

  Mutex mutex_;
  Condition changed_;
  Lifecycle lifecycle_ GUARDED_BY(mutex_) = Lifecycle::uninitialized;
  Lifecycle before_initialize_ GUARDED_BY(mutex_) = Lifecycle::uninitialized;
  std::uint64_t calls_ GUARDED_BY(mutex_) = 0;
  // How many initialize() were admitted, and how many of them have returned.
  std::uint64_t entered_ GUARDED_BY(mutex_) = 0;
  std::uint64_t served_ GUARDED_BY(mutex_) = 0;
  std::vector<std::uint64_t> stops_ GUARDED_BY(mutex_);  // those that have not returned
  bool loop_ended_ GUARDED_BY(mutex_) = false;
  bool clearing_ GUARDED_BY(mutex_) = false;  // one stop() releases what is left
  std::vector<TracedEvent> untraced_ GUARDED_BY(mutex_);
  // The newest instant in its range that the clock has shown to a call.
  Instant latest_ GUARDED_BY(mutex_) = Instant{};
};

}  // namespace dutiful
