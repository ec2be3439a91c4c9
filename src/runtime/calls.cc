#include "runtime/calls.h"

#include <algorithm>
#include <exception>
#include <utility>

#include <dutiful/errors.h>

#include "core/task.h"

namespace dutiful {

Calls::Calls(const Clock& clock, Reinitialize policy, bool traced)
    : clock_(clock), reconciles_(policy == Reinitialize::reconcile), traced_(traced) {}

bool Calls::must_refuse() const {
  if (!stops_.empty() || lifecycle_ == Lifecycle::stopping) return true;
  return !reconciles_ && lifecycle_ != Lifecycle::uninitialized;
}

void Calls::refuse(CallNumber number) {
  trace(InitFailure{"SchedulerAlreadyActiveError", RefusalCause::list, number});
  throw SchedulerAlreadyActiveError(lifecycle_ == Lifecycle::initializing ? "initializing"
                                                                          : "running");
}

Calls::Initialization Calls::enter_initialize(std::vector<TracedRegistration> list, Caller caller) {
  Lock lock{mutex_};
  const std::uint64_t number = ++calls_;
  trace(InitStart{std::move(list), number});
  if (must_refuse() || caller == Caller::inside_initialize) refuse(number);
  const std::uint64_t place = entered_++;
  while (served_ != place) changed_.wait(lock);
  // A stop() that was called meanwhile waits only for the one that was in progress (I5).
  if (must_refuse()) {
    ++served_;
    changed_.notify_all();
    refuse(number);
  }
  before_initialize_ = std::exchange(lifecycle_, Lifecycle::initializing);
  return {number, before_initialize_ == Lifecycle::uninitialized};
}

void Calls::leave_initialize() {
  const Lock lock{mutex_};
  leave(Lifecycle::running);
}

void Calls::leave_initialize(const InitFailure& failure) {
  const Lock lock{mutex_};
  trace(failure);
  leave(before_initialize_);
  if (lifecycle_ != Lifecycle::uninitialized) return;
  loop_ended_ = false;  // it had begun, and found nothing to do
  answer_stops();
}

void Calls::leave(Lifecycle next) {
  const bool stops = next == Lifecycle::running && !stops_.empty();
  lifecycle_ = stops ? Lifecycle::stopping : next;
  ++served_;
  changed_.notify_all();
}

std::uint64_t Calls::enter_stop() {
  const Lock lock{mutex_};
  const std::uint64_t number = ++calls_;
  stops_.push_back(number);
  trace(StopStart{number});
  if (lifecycle_ == Lifecycle::running) lifecycle_ = Lifecycle::stopping;
  if (lifecycle_ == Lifecycle::uninitialized && !initialize_pending()) answer_stops();
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

void Calls::leave_stop(Ends ends) {
  const Lock lock{mutex_};
  lifecycle_ = Lifecycle::uninitialized;
  loop_ended_ = false;
  clearing_ = false;
  if (ends == Ends::lost) {
    stops_.clear();
    trace(Crash{});
  }
  answer_stops();
}

void Calls::answer_stops() {
  for (const std::uint64_t stop : std::exchange(stops_, {})) trace(StopEnd{stop});
  changed_.notify_all();
}

Calls::News Calls::take() {
  const Lock lock{mutex_};
  const Stop stop = stops_.empty() ? Stop::no : initialize_pending() ? Stop::soon : Stop::now;
  return {clock_.now(), stop, std::exchange(untold_, {})};
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

void Calls::trace(TraceEvent event) noexcept {
  if (!traced_) return;
  try {
    // A trace has no words for other instants.
    const Instant at = std::clamp(clock_.now(), clock_begin, clock_end);
    untold_.push_back({at, std::move(event)});
  } catch (const std::exception&) {
    // For want of memory. What it is about happens all the same.
  }
}

}  // namespace dutiful
