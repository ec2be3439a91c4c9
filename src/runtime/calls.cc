#include "runtime/calls.h"

#include <algorithm>
#include <exception>
#include <utility>

#include <dutiful/errors.h>

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
  try {
    // Outside the range of clocks time stands still, as it does for the engine.
    if (const Instant now = clock_.now(); in_clock_range(now)) latest_ = now;
    untraced_.push_back({latest_, make()});
  } catch (...) {
    // There is no memory, or the clock has failed.
  }
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
  before_initialize_ = std::exchange(lifecycle_, Lifecycle::initializing);
  return {number, before_initialize_ == Lifecycle::uninitialized};
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
    if (lifecycle_ == Lifecycle::stopping && loop_ended_ && !std::exchange(clearing_, true)) {
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

void Calls::leave_stop(Ends ends) noexcept {
  const Lock lock{mutex_};
  lifecycle_ = Lifecycle::uninitialized;
  loop_ended_ = false;
  clearing_ = false;
  if (ends == Ends::lost) {
    stops_.clear();
    trace([]() -> TraceEvent { return Crash{}; });
  }
  answer_stops();
}

void Calls::answer_stops() noexcept {
  for (const std::uint64_t stop : stops_) {
    trace([&]() -> TraceEvent { return StopEnd{stop}; });
  }
  stops_.clear();
  changed_.notify_all();
}

// Answers the stops that have nothing to stop. A list that waits for its turn is rejected first.
void Calls::answer_idle_stops() noexcept {
  if (lifecycle_ == Lifecycle::uninitialized && !initialize_pending()) answer_stops();
}

Calls::News Calls::take() {
  const Lock lock{mutex_};
  const Stop stop = stops_.empty() ? Stop::no : initialize_pending() ? Stop::soon : Stop::now;
  return {clock_.now(), stop, std::exchange(untraced_, {})};
}

void Calls::loop_has_ended() {
  const Lock lock{mutex_};
  loop_ended_ = true;
  changed_.notify_all();
}

bool Calls::is_idle() {
  const Lock lock{mutex_};
  return lifecycle_ == Lifecycle::uninitialized && !initialize_pending();
}

}  // namespace dutiful
