#include "runtime/calls.h"

#include <algorithm>
#include <exception>
#include <utility>

#include <dutiful/errors.h>

#include "core/best_effort.h"
#include "core/task.h"
#include "engine/refusal.h"

namespace dutiful {

Calls::Calls(const Clock& clock, Reinitialize policy, bool is_traced)
    : clock_(clock), reconciles_(policy == Reinitialize::reconcile), is_traced_(is_traced) {}

bool Calls::must_reject() const {
  if (!stops_.empty() || lifecycle_ == Lifecycle::stopping) return true;
  return !reconciles_ && lifecycle_ != Lifecycle::uninitialized;
}

template <typename Make>
void Calls::trace(Make make) noexcept {
  if (!is_traced_) return;
  // Outside the range of clocks time stands still, as it does for the engine. The same while the
  // clock fails: a call whose end were not in the trace would seem to hang.
  best_effort([this] {
    mutex_.assert_held();
    if (const Instant now = clock_.now(); in_clock_range(now)) latest_ = now;
  });
  best_effort([&] {
    mutex_.assert_held();
    untraced_.push_back({latest_, make()});
  });
}

void Calls::reject(CallNumber number) {
  trace([&]() -> TraceEvent {
    return InitFailure{"SchedulerAlreadyActiveError", RefusalCause::list, number};
  });
  throw SchedulerAlreadyActiveError(lifecycle_ == Lifecycle::initializing ? "initializing"
                                                                          : "running");
}

Calls::Initialization Calls::enter_initialize(std::vector<TracedRegistration> list, Caller caller) {
  Lock lock{mutex_};
  const std::uint64_t number = ++calls_;
  trace([&]() -> TraceEvent { return InitStart{std::move(list), number}; });
  if (must_reject() || caller == Caller::inside_initialize) reject(number);
  const std::uint64_t place = entered_++;
  while (served_ != place) changed_.wait(lock);
  // A stop() that entered meanwhile waits only for the initialize() that was in progress (I5).
  if (must_reject()) {
    ++served_;
    answer_idle_stops();
    changed_.notify_all();
    reject(number);
  }
  before_initialize_ = lifecycle_.exchange(Lifecycle::initializing);
  return {.number = number,
          .first = before_initialize_ == Lifecycle::uninitialized,
          .must_join = std::exchange(loop_ended_, false)};
}

void Calls::leave_initialize() noexcept {
  const Lock lock{mutex_};
  leave(Lifecycle::running);
}

void Calls::leave_initialize(const Initialization& call, const std::exception_ptr& error) noexcept {
  const Lock lock{mutex_};
  trace([&]() -> TraceEvent { return refusal_of(error, call.number); });
  leave(before_initialize_);
  if (lifecycle_ == Lifecycle::uninitialized)
    loop_ended_ = false;  // it ended because it found no list
  answer_idle_stops();
}

void Calls::leave(Lifecycle next) noexcept {
  const bool stops = next == Lifecycle::running && !stops_.empty();
  lifecycle_ = stops ? Lifecycle::stopping : next;
  ++served_;
  changed_.notify_all();
}

std::uint64_t Calls::enter_stop() {
  const Lock lock{mutex_};
  const std::uint64_t number = ++calls_;
  stops_.push_back(number);
  trace([&]() -> TraceEvent { return StopStart{number}; });
  if (lifecycle_ == Lifecycle::running) lifecycle_ = Lifecycle::stopping;
  answer_idle_stops();
  return number;
}

Calls::StopProgress Calls::wait_for_stop(std::uint64_t number, Deadline deadline) {
  Lock lock{mutex_};
  while (std::ranges::find(stops_, number) != stops_.end()) {
    // An initialize() joins a loop that has found no list.
    if (lifecycle_ != Lifecycle::initializing && loop_ended_ && !std::exchange(joining_, true)) {
      return StopProgress::loop_ended;
    }
    if (!deadline) {
      changed_.wait(lock);
    } else if (!changed_.wait_until(lock, *deadline)) {
      return StopProgress::deadline_passed;
    }
  }
  return StopProgress::done;
}

bool Calls::abandon_stop() noexcept {
  const Lock lock{mutex_};
  if (loop_ended_) return false;
  ++abandoned_;
  return true;
}

void Calls::leave_stop(Ends ends) noexcept {
  const Lock lock{mutex_};
  loop_ended_ = false;
  joining_ = false;
  if (lifecycle_ == Lifecycle::stopping) {
    enter_uninitialized(ends);
  } else {
    answer_stops();  // loop_has_ended() has answered those before them
  }
}

void Calls::enter_uninitialized(Ends ends) noexcept {
  if (ends == Ends::lost) {
    stops_.clear();
    trace([]() -> TraceEvent { return Crash{}; });
  }
  answer_stops();
  // Last, because it is read without the mutex: a caller that sees it may set the clock, and the
  // stops must have been answered by then.
  lifecycle_ = Lifecycle::uninitialized;
}

void Calls::answer_stops() noexcept {
  for (const std::uint64_t stop : stops_) {
    trace([&]() -> TraceEvent { return StopEnd{stop}; });
  }
  stops_.clear();
  abandoned_ = 0;
  changed_.notify_all();
}

// Answers the stops that have nothing to stop. A list that waits for its turn is rejected first.
void Calls::answer_idle_stops() noexcept {
  if (lifecycle_ == Lifecycle::uninitialized && !initialize_pending() && !loop_ended_) {
    answer_stops();
  }
}

Calls::News Calls::take() {
  const Lock lock{mutex_};
  const Stop stop = stops_.empty() ? Stop::no : initialize_pending() ? Stop::soon : Stop::now;
  return {clock_.now(), stop, std::exchange(untraced_, {})};
}

void Calls::loop_has_ended(Ends ends) noexcept {
  const Lock lock{mutex_};
  loop_ended_ = true;
  // A stop() that waits returns only after it has joined the loop. Until then it must not be
  // answered, because initialize() is still rejected (I4).
  if (lifecycle_ == Lifecycle::stopping && abandoned_ == stops_.size()) enter_uninitialized(ends);
  changed_.notify_all();
}

bool Calls::is_idle() {
  const Lock lock{mutex_};
  return lifecycle_ == Lifecycle::uninitialized && !initialize_pending() && !loop_ended_;
}

}  // namespace dutiful
