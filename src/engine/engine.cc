#include "engine/engine.h"

#include <algorithm>
#include <utility>

#include <dutiful/errors.h>

#include "core/make_room.h"
#include "core/validate.h"
#include "engine/durable.h"
#include "engine/refusal.h"
#include "posix/random_name.h"

namespace dutiful {
namespace {

InitStart traced(const std::vector<TaskConfig>& list, CallNumber call) {
  InitStart event{.registrations = {}, .call = call};
  for (const TaskConfig& config : list) {
    event.registrations.push_back({config.name, config.cron, config.retry_delay});
  }
  return event;
}

// Watching must not disturb what is watched: what cannot be told for want of memory is lost, and
// what it was about is not.
template <typename Tell>
void watch(Tell tell) noexcept {
  try {
    tell();
  } catch (...) {
  }
}

}  // namespace

Engine::Engine(const Calendar& calendar,
               Policies policies,
               OpenStore open_store,
               TraceSink& trace,
               TypedSink events,
               Prepare prepare)
    : policies_(policies),
      open_store_(std::move(open_store)),
      prepare_(std::move(prepare)),
      trace_(trace),
      reporter_(std::move(events), calendar),
      calendar_(calendar),
      core_(calendar, policies.max_concurrent) {
  (void)as_initialize_error(nullptr);
}

void Engine::initialize(std::vector<TaskConfig> list, Instant now, TracedCall call) {
  // A trace has no words for an instant outside the years 1 to 9999.
  const bool tells = !call.told_by_caller && trace_.listens() && in_clock_range(now);
  if (tells) trace_.on(now, traced(list, call.number));
  const bool reconcile =
      lifecycle_ == Lifecycle::running && policies_.reinitialize == Reinitialize::reconcile;
  try {
    // Until a stop has returned the scheduler counts as running (I4).
    if (lifecycle_ != Lifecycle::uninitialized && !reconcile) {
      throw SchedulerAlreadyActiveError("running");
    }
    reporter_.initialization_started(
        reconcile ? Reporter::Initialization::again : Reporter::Initialization::first,
        list.size(),
        now);
    if (!in_clock_range(now)) throw ClockError{now};
    validate(list);
    replace_list(std::move(list), now, call.number);
  } catch (...) {
    const std::exception_ptr error = as_initialize_error(std::current_exception());
    fail_initialization(error, call, now);
    std::rethrow_exception(error);
  }
}

void Engine::fail_initialization(const std::exception_ptr& error,
                                 TracedCall call,
                                 Instant now) noexcept {
  if (!call.told_by_caller && in_clock_range(now)) {
    watch([&] {
      trace_.on(now, refusal_of(error, call.number));
      trace_.flush();
    });
  }
  watch([&] { reporter_.initialization_failed(error, now); });
}

void Engine::replace_list(std::vector<TaskConfig> list, Instant now, CallNumber call) {
  const bool reconcile = lifecycle_ == Lifecycle::running;
  const auto kind = reconcile ? Reporter::Initialization::again : Reporter::Initialization::first;
  std::unique_ptr<Store> opened;
  if (!reconcile) opened = open_store_();
  Store& store = reconcile ? *store_ : *opened;

  // Ends go by the numbers of the old list: what is not recorded by now never would be.
  if (reconcile) {
    postpone_ends(now);
    if (!make_durable({}, now)) std::rethrow_exception(store_error_);
  }
  auto stored = reconcile ? core_.stored() : store.load();
  if (!reconcile && prepare_) now = prepare_();
  if (!in_clock_range(now)) throw ClockError{now};
  if (trace_.wants_state()) tell_state(stored.records);
  Plan plan = make_plan(std::move(list),
                        std::move(stored),
                        now,
                        calendar_,
                        policies_.override,
                        reconcile ? Runs::go_on : Runs::are_interrupted);
  if (reconcile) core_.adopt_running(plan);
  // Whoever dies between the list and its success leaves a trace that knows which list it was.
  watch([&] { trace_.flush(); });
  // What can fail comes before the list is durable: memory here, the store below.
  Core next = core_;
  next.apply(plan, now);
  next.place(store.replace(plan, random_name()));
  core_ = std::move(next);
  if (opened) store_ = std::move(opened);
  lifecycle_ = Lifecycle::running;
  time_ = now;
  back_at_.reset();
  forget_store_error();
  watch([&] {
    trace_.on(now, InitSuccess{call});
    trace_.flush();
  });
  watch([&] { reporter_.initialization_completed(kind, plan, now); });
}

void Engine::tell_state(const std::vector<TaskRecord>& records) {
  std::vector<DurableTask> state;
  state.reserve(records.size());
  for (const TaskRecord& record : records) {
    state.push_back(durable_task(record.config, record.progress));
  }
  trace_.recover(state);
}

Instant Engine::follow(Instant clock) {
  if (in_clock_range(clock)) {
    back_at_.reset();
    return time_ = clock;
  }
  const bool left_it = !std::exchange(back_at_, clock < clock_begin ? clock_begin : Instant::max());
  if (left_it && lifecycle_ != Lifecycle::uninitialized) {
    watch([&] { reporter_.report(event::ClockOutOfRange{ClockError{clock}.what()}, time_); });
  }
  return time_;
}

void Engine::stop(Instant now, TracedCall call) {
  if (!call.told_by_caller) {
    watch([&] { trace_.on(now, StopStart{call.number}); });
    stops_waiting_.push_back(call.number);
  }
  stop_told_by_caller_ = call.told_by_caller;
  stop_error_ = nullptr;
  if (lifecycle_ == Lifecycle::running) {
    watch([&] { reporter_.stop_requested(now); });
    lifecycle_ = Lifecycle::stopping;
    // Somebody waits: a store that has failed for long is tried at once, and soon again.
    retry_delay_ = Duration::zero();
    retry_store_at_ = no_instant;
  }
  finish_stop(now);
  watch([&] { trace_.flush(); });
}

void Engine::end(TaskId task, Outcome outcome, Instant now, std::string error) {
  const Duration duration = now - core_.task(task).progress.last_attempt;
  end(task, {outcome, std::move(error), now, duration}, now);
}

void Engine::end(TaskId task, Ending ending, Instant now) {
  make_room(unrecorded_);
  const Outcome outcome = ending.outcome;
  End end{task, core_.task(task).name, std::move(ending), now, no_instant};
  core_.end(task, outcome, now);
  const Core::Task& ended = core_.task(task);
  if (ended.registered) end.retry_at = ended.progress.retry_at;
  unrecorded_.push_back(std::move(end));
}

std::vector<std::string> Engine::unfinished() const {
  std::vector<std::string> names;
  core_.for_each_running([&](const Core::Task& task) { names.push_back(task.name); });
  for (const End& end : unrecorded_) names.push_back(end.name);
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

void Engine::settle(Instant now) {
  postpone_ends(now);
  (void)make_durable({}, now);
  watch([&] { trace_.flush(); });
}

std::vector<Start> Engine::step(Instant now, std::size_t limit) {
  if (!follows()) {
    settle(now);
    return {};
  }
  // Unless the clock has been set back meanwhile.
  if (now < retry_store_at_ && retry_store_at_ - now <= retry_delay_) return {};
  postpone_ends(now);
  std::vector<Start> starts;
  if (lifecycle_ == Lifecycle::running) {
    core_.follow_clock(now, corrected_);
    starts = core_.start_due(now, limit);
  }
  if (!make_durable(starts, now)) {
    core_.undo(starts);
    return {};
  }
  watch([&] { reporter_.gaps(core_, now); });
  for (const Start& start : starts) {
    if (trace_.listens()) {
      watch([&] { trace_.on(now, RunStart{start.name, name_of(start.reason)}); });
    }
    watch([&] { reporter_.run_started(start, core_.cron(core_.task(start.task))); });
  }
  watch([&] { trace_.flush(); });
  return starts;
}

Instant Engine::next_wake() const {
  if (lifecycle_ != Lifecycle::running && !owes_store()) return Instant::max();
  if (back_at_) return *back_at_;
  const Instant wake = owes_store() ? no_instant : core_.next_wake();
  return std::max(wake, retry_store_at_);
}

// An end is observed when it is durably recorded (H5): what could not be counts from now.
void Engine::postpone_ends(Instant now) {
  for (End& end : unrecorded_) {
    if (end.at == now) continue;
    core_.postpone_end(end.task, now);
    end.at = now;
    const Core::Task& ended = core_.task(end.task);
    if (ended.registered) end.retry_at = ended.progress.retry_at;
  }
}

std::vector<RowUpdate> Engine::updates_of(const std::vector<Start>& starts) const {
  std::vector<RowUpdate> updates;
  updates.reserve(unrecorded_.size() + corrected_.size() + starts.size());
  const auto add = [&](TaskId id) {
    const Core::Task& task = core_.task(id);
    if (task.registered) updates.push_back({task.row, task.progress});
  };
  for (const End& end : unrecorded_) add(end.task);
  for (const ClockCorrection& correction : corrected_) add(correction.task);
  for (const Start& start : starts) add(start.task);
  // A task that ended and starts again is there twice, with the same progress: one write will do.
  if (!std::ranges::is_sorted(updates, {}, &RowUpdate::row)) {
    std::ranges::sort(updates, {}, &RowUpdate::row);
  }
  const auto same_row = [](const RowUpdate& a, const RowUpdate& b) { return a.row == b.row; };
  updates.erase(std::unique(updates.begin(), updates.end(), same_row), updates.end());
  return updates;
}

// Records every end and correction that is not, and the starts, in one transaction. Says whether it
// happened.
bool Engine::make_durable(const std::vector<Start>& starts, Instant now) {
  try {
    const auto updates = updates_of(starts);
    if (!updates.empty()) store_->commit(updates);
  } catch (...) {
    store_error_ = std::current_exception();
    retry_delay_ =
        std::clamp(2 * retry_delay_,
                   retry_delay_first,
                   lifecycle_ == Lifecycle::stopping ? retry_delay_max_stopping : retry_delay_max);
    retry_store_at_ = now + retry_delay_;
    watch([&] { reporter_.store_failed(store_error_, retry_store_at_, now); });
    if (lifecycle_ == Lifecycle::stopping && core_.running() == 0 && !may_try_to_stop_again(now)) {
      // For the theory it dies here, and what it could not record was interrupted (H5).
      stop_error_ = store_error_;
      unrecorded_.clear();
      if (!stop_told_by_caller_) {
        watch([&] {
          trace_.on(now, Crash{});
          trace_.flush();
        });
      }
      stops_waiting_.clear();
      let_go(now);
    }
    return false;
  }
  forget_store_error();
  for (End& end : std::exchange(unrecorded_, {})) tell_end(end);
  for (const ClockCorrection& correction : std::exchange(corrected_, {})) {
    watch([&] {
      reporter_.clock_corrected(core_.task(correction.task).name, correction.persisted, now);
    });
  }
  finish_stop(now);
  return true;
}

bool Engine::may_try_to_stop_again(Instant now) {
  if (stop_tries_++ == 0) stop_tried_first_ = now;
  // Where time stands still, there is no later try.
  return follows() && stop_tries_ < stop_tries_max && now - stop_tried_first_ < stop_tries_time_max;
}

void Engine::tell_end(End& end) noexcept {
  watch([&] { reporter_.run_ended(end); });
  if (!trace_.listens()) return;
  watch([&] {
    const auto ended = end.ending.at < end.at ? std::optional{end.ending.at} : std::nullopt;
    if (end.ending.outcome == Outcome::success) {
      trace_.on(end.at, RunSuccess{std::move(end.name), ended});
    } else {
      trace_.on(end.at, RunFailure{std::move(end.name), ended});
    }
  });
}

void Engine::forget_store_error() {
  store_error_ = nullptr;
  retry_delay_ = Duration::zero();
  retry_store_at_ = no_instant;
  stop_tries_ = 0;
}

void Engine::finish_stop(Instant now) {
  if (lifecycle_ == Lifecycle::running) return;
  if (core_.running() > 0 || !unrecorded_.empty()) return;
  if (lifecycle_ == Lifecycle::stopping) let_go(now);
  for (const CallNumber call : std::exchange(stops_waiting_, {})) {
    watch([&] { trace_.on(now, StopEnd{call}); });
  }
}

// Of the state, for another to take hold of.
void Engine::let_go(Instant now) {
  lifecycle_ = Lifecycle::uninitialized;
  watch([&] { reporter_.stopped(now); });
  forget_store_error();
  corrected_.clear();  // the next to start finds the same and corrects it again
  store_.reset();
  core_ = Core{calendar_, policies_.max_concurrent};
}

}  // namespace dutiful
