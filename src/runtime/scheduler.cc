#include <algorithm>
#include <array>
#include <atomic>
#include <new>
#include <set>
#include <system_error>
#include <thread>
#include <unordered_map>
#include <utility>

#include <poll.h>

#include <dutiful/scheduler.h>

#include "core/message_of.h"
#include "engine/engine.h"
#include "engine/header.h"
#include "engine/refusal.h"
#include "posix/bell.h"
#include "runtime/active_run.h"
#include "runtime/calls.h"
#include "runtime/no_trace.h"
#include "runtime/pending_stop.h"
#include "runtime/registrations.h"
#include "runtime/system_clock.h"
#include "runtime/trace_file.h"
#include "runtime/workers.h"
#include "store/memory/memory_store.h"
#include "store/sqlite/sqlite_store.h"
#include "sync/back_off.h"
#include "sync/mutex.h"
#include "text/quote.h"

namespace dutiful {
namespace {

// How many starts one transaction carries: at first few, so that the first of a million starts
// soon; then twice as many each time, to spread the cost of reaching the disk.
constexpr std::size_t starts_per_step_first = 256;
constexpr std::size_t starts_per_step_max = 4096;

// A wake-up that comes so late is told in the trace.
constexpr Duration freeze_min = std::chrono::seconds{1};

// How long work may wait for a thread before there are more of them.
constexpr int grow_after_ms = 1;

Engine::OpenStore opener_of(const std::string& state) {
  if (!state.empty()) return [state] { return open_sqlite_store(state); };
  return
      [memory = std::make_shared<MemoryState>()] { return std::make_unique<MemoryStore>(memory); };
}

// Calls the sink from one thread at a time, whichever tells it something: an initialize() that is
// refused does not wait for the one that is at work, or for the loop.
TypedSink one_at_a_time(TypedSink sink) {
  if (!sink) return {};
  return [sink = std::move(sink), mutex = std::make_shared<Mutex>()](const TypedEvent& event) {
    const Lock lock{*mutex};
    sink(event);
  };
}

}  // namespace

class Scheduler::Impl {
 public:
  explicit Impl(Options options)
      : Impl(options,
             Calendar{options.zone ? *options.zone : Zone::host(), options.repeated_minutes},
             one_at_a_time(typed_sink(options.events))) {}

  Impl(const Options& options, const Calendar& calendar, const TypedSink& events)
      : clock_(options.clock ? options.clock : std::make_shared<SystemClock>()),
        policies_{.repeated_minutes = options.repeated_minutes,
                  .reinitialize = options.reinitialize,
                  .override = options.override,
                  .max_concurrent = options.max_concurrent},
        prepare_(options.prepare),
        reporter_(events, calendar),
        trace_(make_trace(options, calendar)),
        calls_(*clock_, policies_.reinitialize, traces_),
        engine_(calendar, policies_, opener_of(options.state), *trace_, events, [this] {
          engine_mutex_.assert_held();
          prepare();
          return take_calls().now;
        }) {}

  void initialize(std::vector<Registration> registrations) {
    try {
      enter_and_take_list(std::move(registrations));
    } catch (...) {
      std::rethrow_exception(as_initialize_error(std::current_exception()));
    }
  }

  // Returns the tasks whose runs still go on at the deadline, if there is one.
  std::vector<std::string> stop(Calls::Deadline deadline) {
    return finish_stop(begin_stop(nullptr), deadline);
  }

  // Its two parts. What is given rings when the second has little to wait for.
  std::uint64_t begin_stop(Bell* all_ended) {
    if (current == this) {
      throw StopSchedulerError(
          "it was called by a callback of the same scheduler, which it would "
          "wait for; call it from elsewhere",
          nullptr);
    }
    if (all_ended != nullptr) all_ended_ = all_ended;
    const std::uint64_t call = enter_stop();
    wake_up_.ring();
    return call;
  }

  std::vector<std::string> finish_stop(std::uint64_t call, Calls::Deadline deadline) {
    while (true) {
      switch (calls_.wait_for_stop(call, deadline)) {
        case Calls::Stopped::yes:
          tell_calls();
          return {};
        case Calls::Stopped::almost:
          clear_away();
          return {};
        case Calls::Stopped::not_by_now:
          // Where everything has ended just now, another look will say so.
          if (auto names = unfinished(); !names.empty()) return names;
          deadline.reset();
          break;
      }
    }
  }

  // Nobody has called it, or whoever did has been answered.
  [[nodiscard]] bool is_idle() { return calls_.is_idle(); }

 private:
  // Where there is no bound on callbacks, there still is one on threads.
  static constexpr std::size_t threads_max = 1024;

  // How many ended runs, with their callbacks, wait to be destroyed at the most.
  static constexpr std::size_t done_max = 4096;

  std::unique_ptr<TraceSink> make_trace(const Options& options, const Calendar& calendar) {
    if (options.trace.empty()) return std::make_unique<NoTrace>();
    TraceListener listener{.failed = [this](const std::string& error) {
      reporter_.report(event::TraceFailed{error}, clock_->now());
    }};
    if (options.verify) {
      listener.violated = [this](const theory::Violation& violation) { tell_violated(violation); };
    }
    listener.set_aside = [this, trace = options.trace](const TraceListener::SetAside& damaged) {
      reporter_.report(
          event::TraceSetAside{.file = damaged.file,
                               .error = "The trace " + quote(trace) + ' ' + damaged.reason},
          clock_->now());
    };
    try {
      return std::make_unique<TraceFile>(options.trace,
                                         header_of(calendar.zone(), policies_),
                                         calendar.zone(),
                                         std::move(listener));
    } catch (const TraceError&) {
      reporter_.access_refused(std::current_exception(), clock_->now());
      throw;
    }
  }

  void tell_violated(const theory::Violation& violation) {
    const bool ours = violation.blame() == theory::Blame::scheduler;
    reporter_.report(event::TheoryViolated{.axiom = std::string{violation.axiom},
                                           .line = static_cast<std::int64_t>(violation.line),
                                           .violated = violation.at,
                                           .blame = ours ? "scheduler" : "environment",
                                           .error = violation.what},
                     clock_->now());
  }

  Calls::Initialization enter_initialize(const std::vector<Registration>& registrations) {
    std::vector<TracedRegistration> list;
    if (traces_) {
      list.reserve(registrations.size());
      for (const Registration& registration : registrations) {
        list.push_back({registration.name, registration.cron, registration.retry_delay});
      }
    }
    try {
      return calls_.enter_initialize(
          std::move(list),
          preparing == this ? Calls::Caller::inside_initialize : Calls::Caller::outside);
    } catch (const SchedulerAlreadyActiveError&) {
      wake_up_.ring();  // the loop tells the trace of it
      throw;
    }
  }

  void enter_and_take_list(std::vector<Registration> registrations) {
    const Calls::Initialization call = enter_initialize(registrations);
    try {
      take_list(std::move(registrations), call);
    } catch (...) {
      const std::exception_ptr error = as_initialize_error(std::current_exception());
      calls_.leave_initialize(call, error);
      wake_up_.ring();
      tell_calls();
      std::rethrow_exception(error);
    }
    calls_.leave_initialize();
    wake_up_.ring();
  }

  std::uint64_t enter_stop() {
    try {
      return calls_.enter_stop();
    } catch (const std::bad_alloc&) {
      throw StopSchedulerError("memory is exhausted", std::current_exception());
    }
  }

  // After the loop has ended, which one caller of stop() does.
  void clear_away() {
    end_loop();
    Callbacks callbacks;  // which may do anything when they are destroyed
    std::exception_ptr error;
    {
      const Lock lock{engine_mutex_};
      callbacks.swap(callbacks_);
      error = engine_.stop_error();
    }
    destroy(callbacks);
    calls_.leave_stop(error ? Calls::Ends::lost : Calls::Ends::recorded);
    tell_calls();
    if (error) throw_stop_error(error);
  }

  std::vector<std::string> unfinished() {
    const Lock lock{engine_mutex_};
    return engine_.unfinished();
  }

  // What callers have done since the last look goes to the trace. Whatever is decided at the
  // instant that this returns comes after that.
  Calls::News take_calls() REQUIRES(engine_mutex_) {
    Calls::News news = calls_.take();
    const auto watch = [](auto tell) {
      try {
        tell();
      } catch (const std::bad_alloc&) {
        // Watching must not disturb what is watched.
      }
    };
    watch([&] {
      engine_mutex_.assert_held();
      note_freeze(news.events.empty() ? news.now : news.events.front().at);
    });
    for (const TracedEvent& event : news.events) {
      watch([&] {
        engine_mutex_.assert_held();
        trace_->on(event.at, event.event);
      });
    }
    return news;
  }

  // For a call that nobody else may tell of any more.
  void tell_calls() noexcept {
    if (!traces_) return;
    const Lock lock{engine_mutex_};
    try {
      (void)take_calls();
      trace_->flush();
    } catch (const std::exception&) {
      // A clock of the user's has failed: the loop, or the next call, tells it.
    }
  }

  // What initialize() does before the engine has a part in it; the engine tells its own failures.
  template <typename Work>
  std::invoke_result_t<Work> or_tell(std::size_t total, Work work) {
    try {
      return work();
    } catch (const std::exception&) {
      const Instant now = clock_->now();
      reporter_.initialization_started(Reporter::Initialization::first, total, now);
      reporter_.initialization_failed(std::current_exception(), now);
      throw;
    }
  }

  [[noreturn]] static void throw_stop_error(const std::exception_ptr& cause) {
    throw StopSchedulerError(
        "the end of a run could not be recorded; the run will be restarted: " + message_of(cause),
        cause);
  }

  void take_list(std::vector<Registration> registrations, const Calls::Initialization& call) {
    const std::size_t total = registrations.size();
    auto parts = or_tell(total, [&] { return split(std::move(registrations)); });
    Callbacks& callbacks = parts.second;
    Lock lock{engine_mutex_};
    // A thread that cannot be had is an error before anything has changed.
    or_tell(total, [&] {
      engine_mutex_.assert_held();
      start_threads(callbacks, call.first);
    });
    try {
      dispatch();  // what goes by the callbacks of the list before
      engine_.initialize(std::move(parts.first), take_calls().now, {call.number, true});
    } catch (...) {
      lock.unlock();
      if (call.first) end_loop();  // which has found nothing to do
      throw;
    }
    // Those of the list before may do anything when they are destroyed: that is when it is
    // unlocked.
    callbacks_.swap(callbacks);
    try {
      set_alarm();
    } catch (const std::exception&) {
      // The loop, which is next, does so again, and tells where it cannot.
    }
    lock.unlock();
    destroy(callbacks);
  }

  // While this thread runs what a user has given us: it must not stop the scheduler, which would
  // wait for it.
  class Inside {
   public:
    explicit Inside(const Impl* scheduler) : before_(std::exchange(current, scheduler)) {}
    ~Inside() { current = before_; }
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;

   private:
    const Impl* before_;
  };

  template <typename Container>
  void destroy(Container& callbacks) {
    const Inside inside{this};
    callbacks.clear();
  }

  void prepare() {
    if (!prepare_) return;
    const Inside inside{this};
    const Impl* const before = std::exchange(preparing, this);
    try {
      prepare_();
    } catch (...) {
      preparing = before;
      throw;
    }
    preparing = before;
  }

  // The loop begins when the mutex is let go. A worker is started with it if there is one thing for
  // it to do: so whatever is durably started can be run, and stop() be done.
  void start_threads(const Callbacks& callbacks, bool first) REQUIRES(engine_mutex_) {
    const bool need_worker = !std::ranges::all_of(
        callbacks, [](const CallbackOf& task) { return PromptCallback::is(task.callback); });
    try {
      if (first) {
        stop_asked_ = false;
        workers_.emplace(policies_.max_concurrent == 0 ? threads_max : policies_.max_concurrent,
                         [this](std::shared_ptr<ActiveRun> run) { call(std::move(run)); });
      }
      if (need_worker) workers_->start_first();
      if (first) loop_ = std::thread{[this] { loop(); }};
    } catch (...) {
      if (first) workers_.reset();
      try {
        throw;
      } catch (const std::system_error&) {
        throw ThreadError{std::current_exception()};
      }
    }
  }

  void call(std::shared_ptr<ActiveRun> run) noexcept {
    const Inside inside{this};
    run->call();
    run.reset();  // by now it may be the last that holds the callback
  }

  // Requires that the engine is uninitialized, or about to be.
  void end_loop() {
    loop_.join();
    workers_.reset();
    try {
      clock_->set_alarm(Instant::max());
    } catch (const std::exception&) {
      // It rings for nobody.
    }
  }

  // For all that the engine is told.
  [[nodiscard]] Instant now() REQUIRES(engine_mutex_) { return engine_.follow(clock_->now()); }

  void set_alarm() REQUIRES(engine_mutex_) {
    alarm_set_ = now();
    alarm_ = held_ ? Instant::max() : engine_.next_wake();
    if (engine_.follows()) alarm_ = std::min(alarm_, next_deadline());
    clock_->set_alarm(alarm_);
  }

  // It asked to be woken then, and was so much later: the process was stopped, the machine slept,
  // or the clock was set forward. For the theory that time was frozen, until something happened.
  void note_freeze(Instant until) REQUIRES(engine_mutex_) {
    if (until <= alarm_ || !in_clock_range(until)) return;  // it may still ring in time
    if (alarm_ > alarm_set_ && until - alarm_ > freeze_min) trace_->on(alarm_, Freeze{until});
    alarm_ = Instant::max();
  }

  // The loop sleeps until something is due, has ended, or is asked of it; it never polls. Where it
  // runs out of memory it waits, and tries again: whatever could not be done is still there.
  void loop() {
    for (bool ended = false; !ended;) {
      bool more = false;
      Queue<ActiveRun> prompt;
      Queue<ActiveRun> done;
      Asked asked;
      {
        const Lock lock{engine_mutex_};
        try {
          if (running_.empty()) starts_per_step_ = starts_per_step_first;
          do {
            more = step();
          } while (more && prompt_.empty() && done_.size() < done_max);
          ended = engine_.lifecycle() == Lifecycle::uninitialized;
          if (!more && !ended) set_alarm();
          memory_.succeed();
        } catch (const std::bad_alloc&) {
          tell_exhausted("memory is exhausted", memory_.fail());
          more = false;
        } catch (const std::exception& error) {
          tell_exhausted(error.what(), memory_.fail());
          more = false;
        }
        prompt.append(std::move(prompt_));
        done.append(std::move(done_));
        asked.swap(asked_);
      }
      while (!prompt.empty()) call(prompt.pop());
      destroy(done);  // callbacks may do anything when they are destroyed
      ask_to_stop(asked);
      if (!more && !ended) sleep();
    }
    calls_.loop_has_ended();
    if (Bell* const all_ended = all_ended_.exchange(nullptr)) all_ended->ring();
  }

  void sleep() {
    std::array<pollfd, 2> waiting{{{.fd = wake_up_.descriptor(), .events = POLLIN, .revents = 0},
                                   {.fd = clock_->descriptor(), .events = POLLIN, .revents = 0}}};
    if (memory_.waits()) {
      // The alarm may be in the past, and would ring on and on.
      (void)poll(waiting.data(), 1, static_cast<int>(memory_.delay().count()));
    } else {
      const int events = poll(waiting.data(), waiting.size(), grow_workers());
      if (events == 0) threads_waited_ = true;
      clock_->take_alarm();
    }
    wake_up_.take();
  }

  // Returns after how many milliseconds it should be called again; -1: when there is more to do.
  int grow_workers() {
    if (threads_.waits() && !std::exchange(threads_waited_, false)) {
      return static_cast<int>(threads_.delay().count());
    }
    const Workers::Growth growth = workers_->grow();
    if (growth == Workers::Growth::failed) {
      const Duration delay = threads_.fail();
      tell_exhausted("no thread can be started for the runs that wait", delay);
      return static_cast<int>(delay.count());
    }
    threads_.succeed();
    return growth == Workers::Growth::wanted ? grow_after_ms : -1;
  }

  void tell_exhausted(const char* error, Duration delay) noexcept {
    try {
      const Instant now = clock_->now();
      reporter_.report(event::ResourcesExhausted{error, later(now, delay)}, now);
    } catch (...) {
      // There is no memory to say so.
    }
  }

  // One step of the engine; says whether there may be more to do at once.
  bool step() REQUIRES(engine_mutex_) {
    const Calls::News news = take_calls();
    const Instant now = engine_.follow(news.now);
    held_ = news.stop == Calls::Stop::soon;
    if (news.stop == Calls::Stop::now && engine_.lifecycle() == Lifecycle::running) {
      engine_.stop(now, {.number = {}, .told_by_caller = true});
    }
    if (engine_.lifecycle() == Lifecycle::uninitialized) return false;
    if (engine_.lifecycle() == Lifecycle::stopping && !stop_asked_) ask_all_to_stop();
    const Duration began = clock_->monotonic();
    ended_.append(mailbox_->take());
    const bool ended = !ended_.empty();
    while (!ended_.empty()) take_end(now);
    enforce_limits(now);
    dispatch();  // what a step before had no memory for
    if (held_) {
      engine_.settle(now);
      return false;
    }
    const bool polling = engine_.lifecycle() == Lifecycle::running && engine_.next_wake() <= now;
    if (polling) engine_.reporter().poll_started(callbacks_.size(), now);
    undispatched_ = engine_.step(now, starts_per_step_);
    const std::size_t started = undispatched_.size();
    starts_per_step_ = std::min(2 * starts_per_step_, starts_per_step_max);
    std::ranges::reverse(undispatched_);
    dispatch();
    if (polling) engine_.reporter().poll_completed(started, clock_->monotonic() - began, now);
    return started > 0 || ended;
  }

  void take_end(Instant now) REQUIRES(engine_mutex_) {
    const ActiveRun& run = ended_.front();
    engine_.end(run.task, run.ending(), now);
    deadlines_.erase({run.deadline, run.task});
    running_.erase(run.task);
    done_.push(ended_.pop());
  }

  // Hands what has been started to the workers, or to the loop where that will do, the next one
  // last. A run that there is no memory for stays, and all before it are on their way.
  void dispatch() REQUIRES(engine_mutex_) {
    Queue<ActiveRun> runs;
    try {
      for (; !undispatched_.empty(); undispatched_.pop_back()) {
        auto run = make_run(undispatched_.back());
        (run->is_prompt() ? prompt_ : runs).push(std::move(run));
      }
    } catch (...) {
      workers_->add(std::move(runs));
      throw;
    }
    workers_->add(std::move(runs));
  }

  std::shared_ptr<ActiveRun> make_run(const Start& start) REQUIRES(engine_mutex_) {
    const Core::Task& task = engine_.core().task(start.task);
    auto run = make_active_run(start, task, callbacks_[task.registration], mailbox_, *clock_);
    if (stop_asked_) asked_.emplace_back(run->stop, StopReason::stopping);
    if (run->deadline != Instant::max()) deadlines_.insert({run->deadline, start.task});
    running_.emplace(start.task, run);
    return run;
  }

  // RULES X2
  void enforce_limits(Instant now) REQUIRES(engine_mutex_) {
    while (!deadlines_.empty() && deadlines_.begin()->first <= now) {
      // A run that could not be dispatched for want of memory has a deadline already.
      const auto running = running_.find(deadlines_.begin()->second);
      if (running != running_.end()) {
        asked_.push_back({running->second->stop, StopReason::time_limit});
        running->second->timed_out = true;
      }
      deadlines_.erase(deadlines_.begin());
    }
  }

  // RULES I5
  void ask_all_to_stop() REQUIRES(engine_mutex_) {
    asked_.reserve(asked_.size() + running_.size());
    for (const auto& [task, run] : running_) asked_.push_back({run->stop, StopReason::stopping});
    stop_asked_ = true;
  }

  // Runs what users have hung on their stop tokens, so nothing of ours is locked meanwhile.
  using Asked = std::vector<std::pair<std::shared_ptr<StopState>, StopReason>>;
  void ask_to_stop(const Asked& asked) {
    const Inside inside{this};
    for (const auto& [run, reason] : asked) run->request(reason);
  }

  [[nodiscard]] Instant next_deadline() const REQUIRES(engine_mutex_) {
    return deadlines_.empty() ? Instant::max() : deadlines_.begin()->first;
  }

  // The scheduler whose callback this thread runs.
  static thread_local const Impl* current;
  // The one whose preparation it runs.
  static thread_local const Impl* preparing;

  std::shared_ptr<Clock> clock_;
  Policies policies_;
  std::function<void()> prepare_;
  Reporter reporter_;  // what the engine has no part in; any thread may use it

  Bell wake_up_;
  std::shared_ptr<Mailbox> mailbox_ = std::make_shared<Mailbox>(*clock_, &wake_up_);

  Mutex engine_mutex_;
  std::unique_ptr<TraceSink> trace_ GUARDED_BY(engine_mutex_);
  const bool traces_ = trace_->listens();
  Calls calls_;
  Engine engine_ GUARDED_BY(engine_mutex_);
  Callbacks callbacks_ GUARDED_BY(engine_mutex_);  // by TaskConfig::registration
  std::unordered_map<TaskId, std::shared_ptr<ActiveRun>> running_ GUARDED_BY(engine_mutex_);
  // Of running_, where there is one.
  std::set<std::pair<Instant, TaskId>> deadlines_ GUARDED_BY(engine_mutex_);
  // Out of the mailbox, not yet the engine's.
  Queue<ActiveRun> ended_ GUARDED_BY(engine_mutex_);
  // The engine's; to be destroyed when its mutex is let go.
  Queue<ActiveRun> done_ GUARDED_BY(engine_mutex_);
  Asked asked_ GUARDED_BY(engine_mutex_);              // runs that are about to be asked to end
  bool stop_asked_ GUARDED_BY(engine_mutex_) = false;  // all have been, since stop() was called
  // To be called by the loop when that mutex is let go.
  Queue<ActiveRun> prompt_ GUARDED_BY(engine_mutex_);
  // Durable, not yet anybody's.
  std::vector<Start> undispatched_ GUARDED_BY(engine_mutex_);
  bool held_ GUARDED_BY(engine_mutex_) = false;  // nothing may start; the loop will be woken
  std::size_t starts_per_step_ GUARDED_BY(engine_mutex_) = starts_per_step_first;
  // When the loop is to be woken, and when it said so.
  Instant alarm_ GUARDED_BY(engine_mutex_) = Instant::max();
  Instant alarm_set_ GUARDED_BY(engine_mutex_) = Instant::min();

  // Belong to the loop.
  BackOff memory_;
  BackOff threads_;
  bool threads_waited_ = false;

  std::atomic<Bell*> all_ended_ = nullptr;  // to be rung, once, when the loop ends
  std::optional<Workers> workers_;
  std::thread loop_;
};

thread_local const Scheduler::Impl* Scheduler::Impl::current = nullptr;
thread_local const Scheduler::Impl* Scheduler::Impl::preparing = nullptr;

Scheduler::Scheduler(Options options) : impl_(std::make_unique<Impl>(std::move(options))) {}

Scheduler::~Scheduler() {  // NOLINT(bugprone-exception-escape): see the header
  try {
    if (!impl_->is_idle()) impl_->stop(std::nullopt);
  } catch (...) {
    // Nobody is left to tell. Called by its own callback, the threads that go on end the process.
  }
}

void Scheduler::initialize(std::vector<Registration> registrations) {
  impl_->initialize(std::move(registrations));
}

void Scheduler::stop() {
  (void)impl_->stop(std::nullopt);
}

PendingStop::PendingStop(Scheduler& scheduler, Bell& all_ended)
    : scheduler_(scheduler), call_(scheduler.impl_->begin_stop(&all_ended)) {}

void PendingStop::finish() {
  (void)scheduler_.impl_->finish_stop(call_, std::nullopt);
}

std::vector<std::string> Scheduler::stop(Duration patience) {
  constexpr Duration patience_max = std::chrono::days{36'525};  // far from where clocks overflow
  patience = std::clamp(patience, Duration::zero(), patience_max);
  return impl_->stop(std::chrono::steady_clock::now() + patience);
}

}  // namespace dutiful
