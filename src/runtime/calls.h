// The calls of initialize() and stop(): their order, and their trace.
#pragma once

#include <atomic>
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
    bool first;      // the scheduler had no list
    bool must_join;  // the loop of the previous list has ended, and nobody has joined it
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
    loop_ended,       // the caller joins the loop, and then calls leave_stop()
    deadline_passed,  // the scheduler is still stopping
  };
  // Waits for the initialize() in progress, and until the loop has ended.
  using Deadline = std::optional<std::chrono::steady_clock::time_point>;
  [[nodiscard]] StopProgress wait_for_stop(std::uint64_t number, Deadline deadline);
  // The caller of a stop() whose deadline has passed returns, and no longer waits for its end.
  // Returns false if the loop has ended meanwhile: the caller then has to wait for the stop.
  [[nodiscard]] bool abandon_stop() noexcept;
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
  // Nothing runs any more, and the state is released. If every caller of stop() has left, this
  // answers their calls; the next call of any kind joins the loop.
  void loop_has_ended(Ends ends) noexcept;

  // As callers see it. Takes no lock.
  using Lifecycle = SchedulerStatus::Lifecycle;
  [[nodiscard]] Lifecycle lifecycle() const noexcept { return lifecycle_; }

  // Whether there is no list, none is being applied, and no loop is left to join.
  [[nodiscard]] bool is_idle();

 private:
  [[nodiscard]] bool initialize_pending() const REQUIRES(mutex_) { return served_ != entered_; }
  [[nodiscard]] bool must_reject() const REQUIRES(mutex_);
  [[noreturn]] void reject(CallNumber number) REQUIRES(mutex_);
  void leave(Lifecycle next) noexcept REQUIRES(mutex_);
  void enter_uninitialized(Ends ends) noexcept REQUIRES(mutex_);
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
  std::atomic<Lifecycle> lifecycle_ = Lifecycle::uninitialized;  // changes only under the mutex
  Lifecycle before_initialize_ GUARDED_BY(mutex_) = Lifecycle::uninitialized;
  std::uint64_t calls_ GUARDED_BY(mutex_) = 0;
  // How many initialize() were admitted, and how many of them have returned.
  std::uint64_t entered_ GUARDED_BY(mutex_) = 0;
  std::uint64_t served_ GUARDED_BY(mutex_) = 0;
  std::vector<std::uint64_t> stops_ GUARDED_BY(mutex_);  // those that are not answered
  std::size_t abandoned_ GUARDED_BY(mutex_) = 0;         // how many of them have no caller
  bool loop_ended_ GUARDED_BY(mutex_) = false;           // and has to be joined
  bool joining_ GUARDED_BY(mutex_) = false;              // one stop() does that
  std::vector<TracedEvent> untraced_ GUARDED_BY(mutex_);
  // The newest instant in its range that the clock has shown to a call.
  Instant latest_ GUARDED_BY(mutex_) = Instant{};
};

}  // namespace dutiful
