#include "engine/engine.h"

#include <algorithm>
#include <utility>

#include <dutiful/errors.h>

#include "core/best_effort.h"
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

// The newest instant at which the previous scheduler is known to have run.
Instant newest_sign_of_life(const std::vector<TaskRecord>& records) {
  Instant newest = no_instant;
  for (const TaskRecord& record : records) {
    const TaskProgress& progress = record.progress;
    newest =
        std::max({newest, progress.last_attempt, progress.last_success, progress.last_failure});
  }
  return newest;
}

}  // namespace

Engine::Engine(const Calendar& calendar,
               Policies policies,
               OpenStore open_store,
               TraceSink& trace,
               TypedSink events,
               Prepare prepare,
               StatusBoard* board)
    : policies_(policies),
      open_store_(std::move(open_store)),
      prepare_(std::move(prepare)),
      trace_(trace),
      reporter_(std::move(events), calendar),
      board_(board),
      calendar_(calendar),
      core_(calendar, policies.max_concurrent),
      bookkeeper_(calendar) {
  (void)as_initialize_error(nullptr);
}

void Engine::initialize(std::vector<TaskConfig> list, Instant now, TracedCall call) {
  // A trace cannot express an instant outside the years 1 to 9999.
  const bool traces = !call.traced_by_caller && trace_.listens() && in_clock_range(now);
  if (traces) trace_.on(now, traced(list, call.number));
  const bool reconcile =
      lifecycle_ == Lifecycle::running && policies_.reinitialize == Reinitialize::reconcile;
  try {
    // Until a stop is complete, the scheduler counts as running (I4).
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
    publish_refusal(error, call, now);
    std::rethrow_exception(error);
  }
}

void Engine::publish_refusal(const std::exception_ptr& error,
                             TracedCall call,
                             Instant now) noexcept {
  if (!call.traced_by_caller && in_clock_range(now)) {
    best_effort([&] {
      trace_.on(now, refusal_of(error, call.number));
      trace_.flush();
    });
  }
  best_effort([&] { reporter_.initialization_failed(error, now); });
}

void Engine::replace_list(std::vector<TaskConfig> list, Instant now, CallNumber call) {
  const bool reconcile = lifecycle_ == Lifecycle::running;
  const auto kind = reconcile ? Reporter::Initialization::again : Reporter::Initialization::first;
  std::unique_ptr<Store> opened;
  if (!reconcile) opened = open_store_();
  Store& store = reconcile ? *store_ : *opened;

  // Ends refer to tasks by the numbers of the old list, so they must be recorded before it goes.
  if (reconcile) {
    postpone_ends(now);
    if (!record({}, now).durable) std::rethrow_exception(store_error_);
  }
  auto stored = reconcile ? core_.stored() : store.load();
  if (!reconcile && prepare_) now = prepare_();
  if (!in_clock_range(now)) throw ClockError{now};
  if (trace_.wants_state()) trace_state(stored.records);
  const Instant alive_until = newest_sign_of_life(stored.records);
  Plan plan = make_plan(std::move(list),
                        std::move(stored),
                        now,
                        calendar_,
                        policies_.override,
                        reconcile ? Runs::go_on : Runs::are_interrupted);
  if (reconcile) core_.adopt_running(plan);
  // If the process dies before InitSuccess, the trace still contains the list.
  best_effort([&] { trace_.flush(); });
  // Everything that can fail precedes the durable list: first memory, then the store.
  Core next = core_;
  next.apply(plan, now);
  auto shown = board_ != nullptr ? std::make_shared<ShownList>(next, plan.tasks.size()) : nullptr;
  next.place(store.replace(plan, random_name()));
  core_ = std::move(next);
  if (board_ != nullptr) {
    board_->show(std::move(shown));
    board_->show_time(now);
  }
  if (opened) {
    store_ = std::move(opened);
    waits_ = {};
    up_since_ = now;
    alive_until_ = alive_until;
  }
  lifecycle_ = Lifecycle::running;
  time_ = now;
  back_at_.reset();
  forget_store_error();
  best_effort([&] {
    trace_.on(now, InitSuccess{call});
    trace_.flush();
  });
  best_effort([&] { reporter_.initialization_completed(kind, plan, now); });
}

void Engine::trace_state(const std::vector<TaskRecord>& records) {
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
    best_effort([&] { reporter_.report(event::ClockOutOfRange{ClockError{clock}.what()}, time_); });
  }
  return time_;
}

bool Engine::stop(Instant now, TracedCall call) {
  if (!call.traced_by_caller) {
    make_room(stops_waiting_);
    best_effort([&] { trace_.on(now, StopStart{call.number}); });
    stops_waiting_.push_back(call.number);
  }
  stop_traced_by_caller_ = call.traced_by_caller;
  stop_error_ = nullptr;
  if (lifecycle_ == Lifecycle::running) {
    best_effort([&] { reporter_.stop_requested(now); });
    lifecycle_ = Lifecycle::stopping;
    retry_.hurry();
  }
  const bool stopped = finish_stop(now);
  best_effort([&] { trace_.flush(); });
  return stopped;
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

bool Engine::record_ends(Instant now) {
  postpone_ends(now);
  const bool stopped = record({}, now).stopped;
  best_effort([&] { trace_.flush(); });
  return stopped;
}

Engine::StepResult Engine::step(Instant now, std::size_t limit) {
  if (!follows()) return {.stopped = record_ends(now)};
  if (retry_.must_wait(now)) return {};
  postpone_ends(now);
  if (board_ != nullptr) board_->show_time(now);
  StepResult result;
  if (lifecycle_ == Lifecycle::running) {
    core_.follow_clock(now, corrected_);
    result.starts = core_.start_due(now, limit);
  }
  const Recorded recorded = record(result.starts, now);
  result.stopped = recorded.stopped;
  if (!recorded.durable) {
    core_.undo(result.starts);
    result.starts.clear();
    return result;
  }
  publish_starts(result.starts, now);
  best_effort([&] { trace_.flush(); });
  return result;
}

Instant Engine::next_wake() const {
  if (lifecycle_ != Lifecycle::running && !owes_store()) return Instant::max();
  if (back_at_) return *back_at_;
  const Instant wake = owes_store() ? no_instant : core_.next_wake();
  return std::max(wake, retry_.at());
}

// Makes every unrecorded end and correction durable, and the starts, all or none; and completes or
// gives up a stop that waits for that.
Engine::Recorded Engine::record(const std::vector<Start>& starts, Instant now) {
  if (!commit(starts)) {
    waits_.note(Fate::store, now);
    back_off(now);
    return {.durable = false, .stopped = give_up_stop(now)};
  }
  forget_store_error();
  waits_.note(core_.is_limited() ? Fate::limit : Fate::asleep, now);
  show_changes(starts);  // before the events, so that a sink finds what they report
  publish_ends(now);
  return {.durable = true, .stopped = finish_stop(now)};
}

// What the starts change about the accounts of their tasks.
void Engine::book(const std::vector<Start>& starts) {
  bookings_.clear();
  bookings_.reserve(starts.size());
  for (const Start& start : starts) {
    const Core::Task& task = core_.task(start.task);
    bookings_.push_back(
        bookkeeper_.book(task.account, service_of(start), core_.cron(task), waits_));
  }
}

Service Engine::service_of(const Start& start) const {
  const TaskProgress& before = start.before.progress;
  const bool is_first_its_own = start.reason == Reason::cron || start.reason == Reason::boot;
  // An instant by a clock that was ahead says nothing about the pulses of this one (T7).
  const auto by_this_clock = [&](Instant instant) {
    return instant <= start.at ? instant : no_instant;
  };
  const auto first_pulse = [&] {
    const Instant due_since = start.before.due_since;
    if (!before.boot_pending && due_since != no_instant) return due_since;
    const CronExpression& cron = core_.cron(core_.task(start.task));
    if (before.boot_pending) {  // an orphan start serves that pulse too
      return calendar_.find_previous(cron, before.first_coming).value_or(due_since);
    }
    // A pulse that the core has not come to. It exists only if the clock was behind the record.
    const auto next = calendar_.find_next(cron, start.served_before);
    return next && *next <= start.served_until ? *next : no_instant;
  };
  return {.after = start.served_before,
          .until = start.served_until,
          .first = first_pulse(),
          .fate_of_first = is_first_its_own                ? Fate::run
                           : start.reason == Reason::retry ? Fate::retry
                                                           : Fate::orphan,
          // Nobody recorded when an interrupted run ended.
          .ran_until = before.orphan_pending ? by_this_clock(alive_until_)
                                             : std::max(by_this_clock(before.last_success),
                                                        by_this_clock(before.last_failure)),
          .down_until = by_this_clock(up_since_),
          .is_boot = before.boot_pending};
}

// An end is observed when it is durably recorded (H5), so one that is recorded late counts from
// then.
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
  const auto add = [&](TaskId id, const Account* account, std::span<const AccountStretch> closed) {
    const Core::Task& task = core_.task(id);
    if (task.registered) updates.push_back({task.row, task.progress, account, closed});
  };
  for (std::size_t i = 0; i < starts.size(); ++i) {
    add(starts[i].task, &bookings_[i].account, bookings_[i].closed);
  }
  for (const ClockCorrection& correction : corrected_) {
    add(correction.task, &core_.task(correction.task).account, {});
  }
  for (const End& end : unrecorded_) add(end.task, nullptr, {});
  // A task that ended and starts again is listed twice, with the same progress. One write is
  // enough: that of the start, which also changes the account.
  if (!std::ranges::is_sorted(updates, {}, &RowUpdate::row)) {
    std::ranges::stable_sort(updates, {}, &RowUpdate::row);
  }
  const auto same_row = [](const RowUpdate& a, const RowUpdate& b) { return a.row == b.row; };
  updates.erase(std::unique(updates.begin(), updates.end(), same_row), updates.end());
  return updates;
}

bool Engine::commit(const std::vector<Start>& starts) noexcept {
  try {
    book(starts);
    const auto updates = updates_of(starts);
    if (!updates.empty()) store_->commit(updates);
  } catch (...) {
    store_error_ = std::current_exception();
    return false;
  }
  for (std::size_t i = 0; i < starts.size(); ++i) {
    core_.set_account(starts[i].task, bookings_[i].account);
  }
  return true;
}

void Engine::back_off(Instant now) {
  using Waiting = StoreRetry::Waiting;
  const Waiting waiting = lifecycle_ != Lifecycle::stopping ? Waiting::nothing
                          : core_.running() > 0             ? Waiting::stop_with_runs
                                                            : Waiting::stop;
  retry_.fail(waiting, now);
  if (board_ != nullptr) board_->show_store_failure(now, retry_.at());
  best_effort([&] { reporter_.store_failed(store_error_, retry_.at(), now); });
}

void Engine::forget_store_error() {
  store_error_ = nullptr;
  retry_.reset();
  if (board_ != nullptr) board_->show_store_works();
}

void Engine::show_changes(const std::vector<Start>& starts) noexcept {
  ShownList* const list = board_ != nullptr ? board_->current() : nullptr;
  if (list == nullptr) return;
  // A task is shown as it is now, at once: never its end without its next start.
  for (const Start& start : starts) list->write(core_.task(start.task), start.reason);
  for (const ClockCorrection& correction : corrected_) {
    list->write(core_.task(correction.task), std::nullopt);
  }
  for (const End& end : unrecorded_) {
    const Core::Task& task = core_.task(end.task);
    if (task.registered && task.progress.state != TaskState::running) list->write_end(task);
  }
  board_->show_running(core_.running());
}

void Engine::publish_ends(Instant now) noexcept {
  for (const End& end : std::exchange(unrecorded_, {})) {
    best_effort([&] { reporter_.run_ended(end); });
    trace_end(end);
  }
  for (const ClockCorrection& correction : std::exchange(corrected_, {})) {
    best_effort([&] {
      reporter_.clock_corrected(core_.task(correction.task).name, correction.persisted, now);
    });
  }
}

void Engine::trace_end(const End& end) noexcept {
  if (!trace_.listens()) return;
  best_effort([&] {
    const auto ended = end.ending.at < end.at ? std::optional{end.ending.at} : std::nullopt;
    if (end.ending.outcome == Outcome::success) {
      trace_.on(end.at, RunSuccess{end.name, ended});
    } else {
      trace_.on(end.at, RunFailure{end.name, ended});
    }
  });
}

void Engine::publish_starts(const std::vector<Start>& starts, Instant now) noexcept {
  best_effort([&] { reporter_.gaps(core_, now); });
  auto booking = bookings_.begin();
  for (const Start& start : starts) {
    if (trace_.listens()) {
      best_effort([&] { trace_.on(now, RunStart{start.name, name_of(start.reason)}); });
    }
    best_effort(
        [&] { reporter_.run_started(start, core_.cron(core_.task(start.task)), booking->served); });
    ++booking;
  }
}

bool Engine::finish_stop(Instant now) {
  if (lifecycle_ == Lifecycle::running) return false;
  if (core_.running() > 0 || !unrecorded_.empty()) return false;
  if (lifecycle_ == Lifecycle::stopping) enter_uninitialized(now);
  for (const CallNumber call : std::exchange(stops_waiting_, {})) {
    best_effort([&] { trace_.on(now, StopEnd{call}); });
  }
  return true;
}

// Ends a stop that waits only for a store that keeps failing.
bool Engine::give_up_stop(Instant now) {
  if (lifecycle_ != Lifecycle::stopping || core_.running() > 0) return false;
  // While time stands still, no later try comes.
  if (follows() && !retry_.gives_up_stop()) return false;
  stop_error_ = store_error_;
  unrecorded_.clear();
  // For the theory the scheduler crashes here: the runs whose ends are lost are interrupted (H5).
  if (!stop_traced_by_caller_) {
    best_effort([&] {
      trace_.on(now, Crash{});
      trace_.flush();
    });
  }
  stops_waiting_.clear();
  enter_uninitialized(now);
  return true;
}

void Engine::enter_uninitialized(Instant now) {
  lifecycle_ = Lifecycle::uninitialized;
  best_effort([&] { reporter_.stopped(now); });
  release_state();
}

// After this, another process can hold the state.
void Engine::release_state() {
  forget_store_error();
  corrected_.clear();  // the next scheduler finds and corrects the same
  store_.reset();
  if (board_ != nullptr) board_->clear();
  core_ = Core{calendar_, policies_.max_concurrent};
}

}  // namespace dutiful
