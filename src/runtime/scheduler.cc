#include <algorithm>
#include <array>
#include <new>
#include <set>
#include <system_error>
#include <thread>
#include <unordered_map>
#include <utility>

#include <poll.h>

#include <dutiful/scheduler.h>

#include "engine/engine.h"
#include "engine/header.h"
#include "runtime/active_run.h"
#include "runtime/back_off.h"
#include "runtime/no_trace.h"
#include "runtime/registrations.h"
#include "runtime/system_clock.h"
#include "runtime/trace_file.h"
#include "runtime/wake_up.h"
#include "runtime/workers.h"
#include "store/memory/memory_store.h"
#include "store/sqlite/sqlite_store.h"
#include "sync/mutex.h"
#include "time/iso8601.h"

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
EventSink one_at_a_time(EventSink sink) {
  if (!sink) return {};
  return [sink = std::move(sink), mutex = std::make_shared<Mutex>()](const Event& event) {
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
             one_at_a_time(options.events)) {}

  Impl(const Options& options, const Calendar& calendar, const EventSink& events)
      : clock_(options.clock ? options.clock : std::make_shared<SystemClock>()),
        policies_{.repeated_minutes = options.repeated_minutes,
                  .reinitialize = options.reinitialize,
                  .override = options.override,
                  .max_concurrent = options.max_concurrent},
        prepare_(options.prepare),
        reporter_(events, calendar),
        trace_(make_trace(options, calendar)),
        engine_(calendar, policies_, opener_of(options.state), *trace_, events, [this] {
          prepare();
          return clock_->now();
        }) {}

  void initialize(std::vector<Registration> registrations) {
    or_tell([&] { enter_initializing(); });
    try {
      take_list(std::move(registrations));
    } catch (...) {
      enter(before_initialize_);
      throw;
    }
    wake_up_.ring();
    enter(State::running);
  }

  void stop() {
    if (current == this) {
      throw StopSchedulerError(
          "it was called by a callback of the same scheduler, which it would "
          "wait for; call it from elsewhere",
          nullptr);
    }
    if (!enter_stopping()) return;
    try {
      const Instant now = clock_->now();
      const Lock lock{engine_mutex_};
      engine_.stop(now);
    } catch (...) {
      enter(State::running);
      throw;
    }
    wake_up_.ring();
    end_loop();
    Callbacks callbacks;  // which may do anything when they are destroyed
    std::exception_ptr error;
    {
      const Lock lock{engine_mutex_};
      callbacks.swap(callbacks_);
      error = engine_.stop_error();
    }
    callbacks.clear();
    enter(State::uninitialized);
    if (error) throw_stop_error(error);
  }

 private:
  enum class State { uninitialized, initializing, running, stopping };

  // Where there is no bound on callbacks, there still is one on threads.
  static constexpr std::size_t threads_max = 1024;

  std::unique_ptr<TraceSink> make_trace(const Options& options, const Calendar& calendar) {
    if (options.trace.empty()) return std::make_unique<NoTrace>();
    TraceListener listener{.failed = [this](const std::string& error) {
      reporter_.tell("TraceFailed", Level::error, clock_->now(), {{"error", error}});
    }};
    if (options.verify) {
      listener.violated = [this](const theory::Violation& violation) { tell_violated(violation); };
    }
    return std::make_unique<TraceFile>(
        options.trace, header_of(calendar.zone(), policies_), calendar.zone(), std::move(listener));
  }

  void tell_violated(const theory::Violation& violation) {
    const bool ours = violation.blame() == theory::Blame::scheduler;
    reporter_.tell("TheoryViolated",
                   Level::error,
                   clock_->now(),
                   {{"axiom", std::string{violation.axiom}},
                    {"line", static_cast<std::int64_t>(violation.line)},
                    {"violatedAt", format_utc(violation.at)},
                    {"blame", std::string{ours ? "scheduler" : "environment"}},
                    {"error", violation.what}});
  }

  void enter_initializing() {
    const Lock lock{lifecycle_mutex_};
    const bool reconcile = policies_.reinitialize == Reinitialize::reconcile;
    if (lifecycle_ == State::initializing) throw SchedulerAlreadyActiveError("initializing");
    if (lifecycle_ == State::stopping) throw SchedulerAlreadyActiveError("stopping");
    if (lifecycle_ == State::running && !reconcile) throw SchedulerAlreadyActiveError("running");
    before_initialize_ = std::exchange(lifecycle_, State::initializing);
  }

  // Says whether there is anything to stop, and that this call is the one to do it.
  bool enter_stopping() {
    Lock lock{lifecycle_mutex_};
    while (lifecycle_ == State::initializing) lifecycle_changed_.wait(lock);
    if (lifecycle_ == State::running) {
      lifecycle_ = State::stopping;
      return true;
    }
    while (lifecycle_ == State::stopping) lifecycle_changed_.wait(lock);  // somebody else is at it
    return false;
  }

  void enter(State state) {
    {
      const Lock lock{lifecycle_mutex_};
      lifecycle_ = state;
    }
    lifecycle_changed_.notify_all();
  }

  // What initialize() does before the engine has a part in it; the engine tells its own failures.
  template <typename Work>
  std::invoke_result_t<Work> or_tell(Work work) {
    try {
      return work();
    } catch (const std::exception& error) {
      reporter_.initialization_failed(error.what(), clock_->now());
      throw;
    }
  }

  [[noreturn]] static void throw_stop_error(const std::exception_ptr& cause) {
    std::string reason = "the end of a run could not be recorded, which will be restarted";
    try {
      std::rethrow_exception(cause);
    } catch (const std::exception& error) {
      reason += std::string{": "} + error.what();
    } catch (...) {
      reason += ": unknown error";
    }
    throw StopSchedulerError(reason, cause);
  }

  void take_list(std::vector<Registration> registrations) {
    auto [list, callbacks] = or_tell([&] { return split(std::move(registrations)); });
    Lock lock{engine_mutex_};
    const bool first = before_initialize_ == State::uninitialized;
    // A thread that cannot be had is an error before anything has changed.
    if (first) or_tell([&] { start_loop(); });
    try {
      dispatch();  // what goes by the callbacks of the list before
      engine_.initialize(std::move(list), clock_->now());
    } catch (...) {
      lock.unlock();
      if (first) end_loop();  // which has found nothing to do
      throw;
    }
    callbacks_ = std::move(callbacks);
    try {
      set_alarm();
    } catch (const std::exception&) {
      // The loop, which is next, does so again, and tells where it cannot.
    }
  }

  // As a callback, it must not stop the scheduler, which would wait for it.
  void prepare() {
    if (!prepare_) return;
    const Impl* before = std::exchange(current, this);
    try {
      prepare_();
    } catch (...) {
      current = before;
      throw;
    }
    current = before;
  }

  // Requires the engine's mutex: the loop begins when that is let go.
  void start_loop() {
    workers_.emplace(policies_.max_concurrent == 0 ? threads_max : policies_.max_concurrent,
                     [this](ActiveRun& run) {
                       current = this;
                       run.call();
                       current = nullptr;
                     });
    try {
      loop_ = std::thread{[this] { loop(); }};
    } catch (const std::system_error&) {
      workers_.reset();
      throw ThreadError{std::current_exception()};
    }
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

  void set_alarm() REQUIRES(engine_mutex_) {
    alarm_ = std::min(engine_.next_wake(), next_deadline());
    alarm_set_ = clock_->now();
    clock_->set_alarm(alarm_);
  }

  // It asked to be woken then, and was so much later: the process was stopped, the machine slept,
  // or the clock was set forward. For the theory that time was frozen.
  void note_freeze() REQUIRES(engine_mutex_) {
    const Instant now = clock_->now();
    if (alarm_ > alarm_set_ && now > alarm_ && now - alarm_ > freeze_min) {
      trace_->on(alarm_, Freeze{now});
    }
    alarm_ = Instant::min();
  }

  // The loop sleeps until something is due, has ended, or is asked of it; it never polls. Where it
  // runs out of memory it waits, and tries again: whatever could not be done is still there.
  void loop() {
    while (true) {
      {
        const Lock lock{engine_mutex_};
        try {
          note_freeze();
          if (running_.empty()) starts_per_step_ = starts_per_step_first;
          while (engine_.lifecycle() != Lifecycle::uninitialized && step()) {
          }
          if (engine_.lifecycle() == Lifecycle::uninitialized) return;
          set_alarm();
          memory_.succeed();
        } catch (const std::bad_alloc&) {
          tell_exhausted("memory is exhausted", memory_.fail());
        } catch (const std::exception& error) {
          tell_exhausted(error.what(), memory_.fail());
        }
      }
      ask_to_stop();
      sleep();
    }
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
      reporter_.exhausted(error, now + delay, now);
    } catch (...) {
      // There is no memory to say so.
    }
  }

  // One step of the engine; says whether there may be more to do at once.
  bool step() REQUIRES(engine_mutex_) {
    const Instant now = clock_->now();
    ended_.append(mailbox_->take());
    const bool ended = !ended_.empty();
    for (; !ended_.empty(); ended_.pop()) take_end(ended_.front(), now);
    enforce_limits(now);
    dispatch();  // what a step before had no memory for
    const bool polling = engine_.lifecycle() == Lifecycle::running && engine_.next_wake() <= now;
    if (polling) engine_.reporter().poll_started(callbacks_.size(), now);
    undispatched_ = engine_.step(now, starts_per_step_);
    const std::size_t started = undispatched_.size();
    starts_per_step_ = std::min(2 * starts_per_step_, starts_per_step_max);
    std::ranges::reverse(undispatched_);
    dispatch();
    if (polling) engine_.reporter().poll_completed(started, clock_->now() - now, now);
    return started > 0 || ended;
  }

  void take_end(const ActiveRun& run, Instant now) REQUIRES(engine_mutex_) {
    if (run.timed_out) {
      engine_.end(run.task, Outcome::failure, now, "it ran past its time limit");
    } else {
      engine_.end(run.task, run.outcome, now, run.error);
    }
    deadlines_.erase({run.deadline, run.task});
    running_.erase(run.task);
  }

  // Hands what has been started to the workers, the next one last. A run that there is no memory
  // for stays, and all before it are on their way.
  void dispatch() REQUIRES(engine_mutex_) {
    Queue<ActiveRun> runs;
    try {
      for (; !undispatched_.empty(); undispatched_.pop_back()) {
        runs.push(make_run(undispatched_.back()));
      }
    } catch (...) {
      workers_->add(std::move(runs));
      throw;
    }
    workers_->add(std::move(runs));
  }

  std::shared_ptr<ActiveRun> make_run(const Start& start) REQUIRES(engine_mutex_) {
    const Core::Task& task = engine_.core().task(start.task);
    const auto& [callback, time_limit] = callbacks_[task.registration];
    std::stop_source stop;
    RunInfo info{.task = task.name,
                 .reason = start.reason,
                 .pulse = task.progress.pulse,
                 .attempt = task.progress.attempt,
                 .fence = task.progress.fence,
                 .recurrence = task.progress.recurrence,
                 .started = start.at,
                 .stop = stop.get_token()};
    auto run = std::make_shared<ActiveRun>(start.task, std::move(info), callback, mailbox_);
    run->stop = std::move(stop);
    if (time_limit > Duration::zero()) {
      run->deadline = later(start.at, time_limit);
      deadlines_.insert({run->deadline, start.task});
    }
    running_.emplace(start.task, run);
    return run;
  }

  // RULES X2
  void enforce_limits(Instant now) REQUIRES(engine_mutex_) {
    while (!deadlines_.empty() && deadlines_.begin()->first <= now) {
      // A run that could not be dispatched for want of memory has a deadline already.
      const auto running = running_.find(deadlines_.begin()->second);
      if (running != running_.end()) {
        overdue_.push_back(running->second->stop);
        running->second->timed_out = true;
      }
      deadlines_.erase(deadlines_.begin());
    }
  }

  // Runs what users have hung on their stop tokens, so nothing of ours is locked meanwhile.
  void ask_to_stop() {
    current = this;
    for (std::stop_source& run : std::exchange(overdue_, {})) run.request_stop();
    current = nullptr;
  }

  [[nodiscard]] Instant next_deadline() const REQUIRES(engine_mutex_) {
    return deadlines_.empty() ? Instant::max() : deadlines_.begin()->first;
  }

  // The scheduler whose callback this thread runs.
  static thread_local const Impl* current;

  std::shared_ptr<Clock> clock_;
  Policies policies_;
  std::function<void()> prepare_;
  Reporter reporter_;  // what the engine has no part in; any thread may use it

  Mutex lifecycle_mutex_;
  Condition lifecycle_changed_;
  State lifecycle_ GUARDED_BY(lifecycle_mutex_) = State::uninitialized;
  State before_initialize_ = State::uninitialized;  // belongs to whoever set `initializing`

  WakeUp wake_up_;
  std::shared_ptr<Mailbox> mailbox_ = std::make_shared<Mailbox>(&wake_up_);

  Mutex engine_mutex_;
  std::unique_ptr<TraceSink> trace_ GUARDED_BY(engine_mutex_);
  Engine engine_ GUARDED_BY(engine_mutex_);
  Callbacks callbacks_ GUARDED_BY(engine_mutex_);  // by TaskConfig::registration
  std::unordered_map<TaskId, std::shared_ptr<ActiveRun>> running_ GUARDED_BY(engine_mutex_);
  // Of running_, where there is one.
  std::set<std::pair<Instant, TaskId>> deadlines_ GUARDED_BY(engine_mutex_);
  // Out of the mailbox, not yet the engine's.
  Queue<ActiveRun> ended_ GUARDED_BY(engine_mutex_);
  // Durable, not yet the workers'.
  std::vector<Start> undispatched_ GUARDED_BY(engine_mutex_);
  std::size_t starts_per_step_ GUARDED_BY(engine_mutex_) = starts_per_step_first;
  // When the loop is to be woken, and when it said so.
  Instant alarm_ GUARDED_BY(engine_mutex_) = Instant::min();
  Instant alarm_set_ GUARDED_BY(engine_mutex_) = Instant::min();

  // Belong to the loop.
  std::vector<std::stop_source> overdue_;
  BackOff memory_;
  BackOff threads_;
  bool threads_waited_ = false;

  std::optional<Workers> workers_;
  std::thread loop_;
};

thread_local const Scheduler::Impl* Scheduler::Impl::current = nullptr;

Scheduler::Scheduler(Options options) : impl_(std::make_unique<Impl>(std::move(options))) {}

Scheduler::~Scheduler() {  // NOLINT(bugprone-exception-escape): see the header
  try {
    impl_->stop();
  } catch (const StopSchedulerError&) {
    // Nobody is left to tell. Called by its own callback, the threads that go on end the process.
  }
}

void Scheduler::initialize(std::vector<Registration> registrations) {
  impl_->initialize(std::move(registrations));
}

void Scheduler::stop() {
  impl_->stop();
}

}  // namespace dutiful
