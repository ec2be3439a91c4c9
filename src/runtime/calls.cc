#include "runtime/calls.h"

#include <algorithm>
#include <exception>
#include <utility>

#include <dutiful/errors.h>

#include "core/task.h"
#include "engine/refusal.h"

namespace dutiful {

Calls::Calls(const Clock& clock, Reinitialize policy, bool traced)
    : clock_(clock), reconciles_(policy == Reinitialize::reconcile), traced_(traced) {}

bool Calls::must_refuse() const {
  if (!stops_.empty() || lifecycle_ == Lifecycle::stopping) return true;
  return !reconciles_ && lifecycle_ != Lifecycle::uninitialized;
}

template <typename Make>
void Calls::trace(Make make) noexcept {
  if (!traced_) return;
  try {
    // Outside the range of clocks time stands still, as it does for the engine.
    if (const Instant now = clock_.now(); in_clock_range(now)) latest_ = now;
    untraced_.push_back({latest_, make()});
  } catch (...) {
    // For want of memory, or of a clock.
  }
}

void Calls::refuse(CallNumber number) {
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
  if (must_refuse() || caller == Caller::inside_initialize) refuse(number);
  const std::uint64_t place = entered_++;
  while (served_ != place) changed_.wait(lock);
  // A stop() that was called meanwhile waits only for the one that was in progress (I5).
  if (must_refuse()) {
    ++served_;
    answer_idle_stops();
    changed_.notify_all();
    refuse(number);
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
  if (lifecycle_ == Lifecycle::uninitialized) loop_ended_ = false;  // it had found nothing to do
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

Calls::Stopped Calls::wait_for_stop(std::uint64_t number, Deadline deadline) {
  Lock lock{mutex_};
  while (std::ranges::find(stops_, number) != stops_.end()) {
    if (lifecycle_ == Lifecycle::stopping && loop_ended_ && !std::exchange(clearing_, true)) {
      return Stopped::almost;
    }
    if (!deadline) {
      changed_.wait(lock);
    } else if (!changed_.wait_until(lock, *deadline)) {
      return Stopped::not_by_now;
    }
  }
  return Stopped::yes;
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

// Those that there is nothing to stop for. A list that waits for its turn has to be refused first.
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
