#include "engine/engine.h"

#include <algorithm>
#include <utility>

#include <dutiful/errors.h>

#include "core/make_room.h"
#include "core/validate.h"
#include "engine/durable.h"
#include "engine/identifier.h"

namespace dutiful {
namespace {

InitStart traced(const std::vector<TaskConfig>& list) {
  InitStart event;
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
               EventSink events,
               Prepare prepare)
    : policies_(policies),
      open_store_(std::move(open_store)),
      prepare_(std::move(prepare)),
      trace_(trace),
      reporter_(std::move(events), calendar),
      calendar_(calendar),
      core_(calendar, policies.max_concurrent) {}

void Engine::initialize(std::vector<TaskConfig> list, Instant now) {
  if (!in_clock_range(now)) {
    // Without a trace: there is no instant for it to bear.
    reporter_.initialization_failed(ClockError{now}.what(), now);
    throw ClockError{now};
  }
  if (trace_.listens()) trace_.on(now, traced(list));
  bool takes_state = false;
  const auto how = [&](std::string_view name) -> TraceEvent {
    // A valid list does not fail (S5). Where the world is not ready for it, nothing has begun: for
    // the theory that is a process that came and went.
    if (takes_state) return Crash{};
    return InitFailure{std::string{name}};
  };
  try {
    const bool reconcile =
        lifecycle_ == Lifecycle::running && policies_.reinitialize == Reinitialize::reconcile;
    if (lifecycle_ != Lifecycle::uninitialized && !reconcile) {
      throw SchedulerAlreadyActiveError(lifecycle_ == Lifecycle::running ? "running" : "stopping");
    }
    validate(list);
    takes_state = !reconcile;
    replace_list(std::move(list), now);
  } catch (const Error& error) {
    fail_initialization(how(error.name()), error.what(), now);
    throw;
  } catch (const std::exception& error) {
    fail_initialization(how("Error"), error.what(), now);
    throw;
  } catch (...) {
    fail_initialization(how("Error"), "unknown error", now);
    throw;
  }
}

void Engine::fail_initialization(const TraceEvent& how, const std::string& message, Instant now) {
  watch([&] {
    trace_.on(now, how);
    trace_.flush();
  });
  reporter_.initialization_failed(message, now);
}

void Engine::replace_list(std::vector<TaskConfig> list, Instant now) {
  const bool reconcile = lifecycle_ == Lifecycle::running;
  const auto kind = reconcile ? Reporter::Initialization::again : Reporter::Initialization::first;
  reporter_.initialization_started(kind, list.size(), now);
  std::unique_ptr<Store> opened;
  if (!reconcile) opened = open_store_();
  Store& store = reconcile ? *store_ : *opened;

  // Ends go by the numbers of the old list: what is not recorded by now never would be.
  if (reconcile) {
    postpone_ends(now);
    if (!make_durable({}, now)) std::rethrow_exception(store_error_);
  }
  auto records = reconcile ? core_.records() : store.load();
  if (!reconcile && prepare_) now = prepare_();
  if (!in_clock_range(now)) throw ClockError{now};
  if (trace_.wants_state()) tell_state(records);
  Plan plan = make_plan(std::move(list),
                        std::move(records),
                        now,
                        calendar_,
                        policies_.override,
                        reconcile ? Runs::go_on : Runs::are_interrupted);
  if (reconcile) core_.carry_runs(plan);
  // Whoever dies between the list and its success leaves a trace that knows which list it was.
  watch([&] { trace_.flush(); });
  // What can fail comes before the list is durable: memory here, the store below.
  Core next = core_;
  next.apply(plan, now);
  next.place(store.replace(plan, make_identifier()));
  core_ = std::move(next);
  if (opened) store_ = std::move(opened);
  lifecycle_ = Lifecycle::running;
  time_ = now;
  back_at_.reset();
  forget_store_error();
  watch([&] {
    trace_.on(now, InitSuccess{});
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
    watch([&] { reporter_.clock_out_of_range(ClockError{clock}.what(), time_); });
  }
  return time_;
}

void Engine::stop(Instant now) {
  watch([&] { trace_.on(now, StopStart{}); });
  stop_error_ = nullptr;
  if (lifecycle_ == Lifecycle::running) watch([&] { reporter_.stop_requested(now); });
  ++stops_waiting_;
  if (lifecycle_ == Lifecycle::running) {
    lifecycle_ = Lifecycle::stopping;
    // Somebody waits: a store that has failed for long is tried at once, and soon again.
    retry_delay_ = Duration::zero();
    retry_store_at_ = no_instant;
  }
  finish_stop(now);
  watch([&] { trace_.flush(); });
}

void Engine::end(TaskId task, Outcome outcome, Instant now, std::string error) {
  make_room(unrecorded_);
  End end{task, outcome, now, std::move(error), core_.task(task).name, {}};
  core_.end(task, outcome, now);
  end.progress = core_.task(task).progress;
  unrecorded_.push_back(std::move(end));
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
    const Core::Task& task = core_.task(start.task);
    if (trace_.listens()) {
      watch([&] { trace_.on(now, RunStart{task.name, name_of(start.reason)}); });
    }
    watch([&] { reporter_.run_started(start, task, core_.cron(task)); });
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
    if (core_.task(end.task).registered) end.progress = core_.task(end.task).progress;
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
    // Where time stands still, there is no later try.
    if (lifecycle_ == Lifecycle::stopping && core_.running() == 0 &&
        (++stop_tries_ >= stop_tries_max || !follows())) {
      // For the theory it dies here, and what it could not record was interrupted (H5).
      stop_error_ = store_error_;
      unrecorded_.clear();
      watch([&] {
        trace_.on(now, Crash{});
        trace_.flush();
      });
      stops_waiting_ = 0;
      let_go(now);
    }
    return false;
  }
  forget_store_error();
  for (End& end : std::exchange(unrecorded_, {})) {
    watch([&] { reporter_.run_ended(end.name, end.outcome, end.error, end.progress, now); });
    if (!trace_.listens()) continue;
    watch([&] {
      if (end.outcome == Outcome::success) {
        trace_.on(now, RunSuccess{std::move(end.name)});
      } else {
        trace_.on(now, RunFailure{std::move(end.name)});
      }
    });
  }
  for (const ClockCorrection& correction : std::exchange(corrected_, {})) {
    watch([&] {
      reporter_.clock_corrected(core_.task(correction.task).name, correction.persisted, now);
    });
  }
  finish_stop(now);
  return true;
}

void Engine::forget_store_error() {
  store_error_ = nullptr;
  retry_delay_ = Duration::zero();
  retry_store_at_ = no_instant;
  stop_tries_ = 0;
}

void Engine::finish_stop(Instant now) {
  if (lifecycle_ == Lifecycle::running || stops_waiting_ == 0) return;
  if (core_.running() > 0 || !unrecorded_.empty()) return;
  let_go(now);
  for (; stops_waiting_ > 0; --stops_waiting_) {
    watch([&] { trace_.on(now, StopEnd{}); });
  }
}

// Of the state, for another to take hold of.
void Engine::let_go(Instant now) {
  if (std::exchange(lifecycle_, Lifecycle::uninitialized) == Lifecycle::stopping) {
    watch([&] { reporter_.stopped(now); });
  }
  forget_store_error();
  corrected_.clear();  // the next to start finds the same and corrects it again
  store_.reset();
  core_ = Core{calendar_, policies_.max_concurrent};
}

}  // namespace dutiful
