#include "runtime/engine_driver.h"

#include <algorithm>
#include <utility>

#include "core/best_effort.h"
#include "runtime/measured_store.h"
#include "runtime/options.h"

namespace dutiful {

EngineDriver::EngineDriver(Surroundings around,
                           const Options& options,
                           const Calendar& calendar,
                           const TypedSink& events,
                           std::function<void()> prepare)
    : clock_(around.clock),
      calls_(around.calls),
      trace_(around.trace),
      mailbox_(std::make_shared<Mailbox>(around.clock, &around.wake_up)),
      engine_(
          calendar,
          policies_of(options),
          is_typed(options.events) ? measured(store_opener_of(options), around.clock, events)
                                   : store_opener_of(options),
          around.trace,
          events,
          [this, prepare = std::move(prepare)] {
            mutex.assert_held();
            prepare();
            return take_calls().now;
          },
          &around.board) {}

Instant EngineDriver::begin_initialize(const Calls::Initialization& call, Workers& workers) {
  if (call.first) is_stop_requested_ = false;
  dispatch(workers);  // by the callbacks of the previous list
  return take_calls().now;
}

void EngineDriver::initialize(std::vector<TaskConfig> list,
                              Callbacks& callbacks,
                              const Calls::Initialization& call,
                              Instant now) {
  engine_.initialize(std::move(list), now, {call.number, true});
  callbacks_.swap(callbacks);
  // If that fails, the loop, which is next, sets it again, and reports the failure.
  best_effort([this] {
    mutex.assert_held();
    set_alarm();
  });
}

EngineDriver::Next EngineDriver::step(Workers& workers) {
  if (runs_.empty()) starts_per_step_ = starts_per_step_first;
  Next next = Next::step;
  do {
    next = step_once(workers);
  } while (next == Next::step && prompt_.empty() && ended_.size() < ended_max &&
           !runs_.has_stop_requests());
  if (next == Next::sleep) set_alarm();
  return next;
}

EngineDriver::Next EngineDriver::step_once(Workers& workers) {
  // The list was refused, perhaps because the clock fails. Its initialize() waits for this.
  if (engine_.lifecycle() == Lifecycle::uninitialized) return Next::end;
  const Calls::News news = take_calls();
  const Instant now = engine_.follow(news.now);
  is_held_ = news.stop == Calls::Stop::soon;
  if (news.stop == Calls::Stop::now && engine_.lifecycle() == Lifecycle::running) {
    if (engine_.stop(now, {.number = {}, .traced_by_caller = true})) return Next::end;
  }
  if (engine_.lifecycle() == Lifecycle::stopping && !is_stop_requested_) {
    runs_.request_stop_of_all();
    is_stop_requested_ = true;
  }
  const Duration began = clock_.monotonic();
  const bool have_ended = take_ends(now);
  runs_.enforce_limits(now);
  dispatch(workers);  // if an earlier step had no memory for it
  if (is_held_) return engine_.record_ends(now) ? Next::end : Next::sleep;
  // The engine also wakes to record an end; that is no poll.
  const bool is_polling = engine_.lifecycle() == Lifecycle::running && engine_.next_wake() <= now &&
                          engine_.core().next_wake() <= now;
  if (is_polling) engine_.reporter().poll_started(callbacks_.size(), now);
  auto [starts, stopped] = engine_.step(now, starts_per_step_);
  undispatched_ = std::move(starts);
  const std::size_t started = undispatched_.size();
  starts_per_step_ = std::min(2 * starts_per_step_, starts_per_step_max);
  std::ranges::reverse(undispatched_);
  dispatch(workers);
  if (is_polling) engine_.reporter().poll_completed(started, clock_.monotonic() - began, now);
  if (stopped) return Next::end;
  return started > 0 || have_ended ? Next::step : Next::sleep;
}

EngineDriver::DeferredWork EngineDriver::take_deferred_work() noexcept {
  return {std::move(prompt_), std::move(ended_), runs_.take_stop_requests()};
}

// What is decided at the instant that this returns comes after those calls in the trace.
Calls::News EngineDriver::take_calls() {
  Calls::News news = calls_.take();
  best_effort([&] {
    mutex.assert_held();
    const auto freeze = freezes_.wake(news.events.empty() ? news.now : news.events.front().at);
    if (freeze) trace_.on(freeze->at, freeze->event);
  });
  for (const TracedEvent& event : news.events) {
    best_effort([&] {
      mutex.assert_held();
      trace_.on(event.at, event.event);
    });
  }
  return news;
}

void EngineDriver::trace_calls() noexcept {
  // If the user's clock fails, the loop, or the next call, traces them.
  best_effort([this] {
    mutex.assert_held();
    (void)take_calls();
    trace_.flush();
  });
}

// Returns whether there are any.
bool EngineDriver::take_ends(Instant now) {
  unrecorded_.append(mailbox_->take());
  const bool any = !unrecorded_.empty();
  while (!unrecorded_.empty()) {
    const ActiveRun& run = unrecorded_.front();
    engine_.end(run.task, run.ending(), now);
    runs_.remove(run);
    ended_.push(unrecorded_.pop());
  }
  return any;
}

// Hands the started runs to the workers, or to the loop if they are prompt. If there is no memory
// for a run, it stays, and so do those after it.
void EngineDriver::dispatch(Workers& workers) {
  Queue<ActiveRun> runs;
  try {
    for (; !undispatched_.empty(); undispatched_.pop_back()) {
      auto run = make_run(undispatched_.back());
      (run->is_prompt() ? prompt_ : runs).push(std::move(run));
    }
  } catch (...) {
    workers.add(std::move(runs));
    throw;
  }
  workers.add(std::move(runs));
}

std::shared_ptr<ActiveRun> EngineDriver::make_run(Start& start) {
  auto run = make_active_run(start, callbacks_[start.registration], mailbox_, clock_);
  if (is_stop_requested_) runs_.request_stop_of(*run);
  runs_.add(run);
  run->set_info(std::move(start));
  return run;
}

void EngineDriver::set_alarm() {
  const Instant now = engine_.follow(clock_.now());
  Instant alarm = is_held_ ? Instant::max() : engine_.next_wake();
  if (engine_.follows()) alarm = std::min(alarm, runs_.next_deadline());
  freezes_.set_alarm(alarm, now);
  clock_.set_alarm(alarm);
}

}  // namespace dutiful
