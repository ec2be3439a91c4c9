#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <set>
#include <thread>
#include <unordered_map>
#include <utility>

#include <poll.h>

#include <dutiful/scheduler.h>

#include "engine/engine.h"
#include "runtime/no_trace.h"
#include "runtime/registrations.h"
#include "runtime/settler.h"
#include "runtime/system_clock.h"
#include "runtime/wake_up.h"
#include "runtime/workers.h"
#include "store/memory/memory_store.h"
#include "store/sqlite/sqlite_store.h"

namespace dutiful {
namespace {

// How many starts one transaction carries: enough to spread the cost of reaching the disk, few
// enough that the first of a million starts soon.
constexpr std::size_t starts_per_step = 4096;

// How long work may wait for a thread before there are more of them.
constexpr int grow_after_ms = 1;

// Ends of runs, on their way from the threads that run them to the loop.
class Mailbox {
 public:
  struct Ended {
    TaskId task;
    Outcome outcome;
    std::string error;
  };

  explicit Mailbox(WakeUp& wake_up) : wake_up_(wake_up) {}

  void put(Ended ended) noexcept {
    const std::lock_guard lock{mutex_};
    ended_.push_back(std::move(ended));
    if (ended_.size() == 1) wake_up_.ring();
  }
  std::vector<Ended> take() {
    const std::lock_guard lock{mutex_};
    return std::exchange(ended_, {});
  }

 private:
  WakeUp& wake_up_;
  std::mutex mutex_;
  std::vector<Ended> ended_;
};

class MailboxSettler : public Run::Settler {
 public:
  MailboxSettler(Mailbox& mailbox, TaskId task) : mailbox_(mailbox), task_(task) {}
  void settle(Outcome outcome, std::string_view reason) noexcept override {
    mailbox_.put({task_, outcome, std::string{reason}});
  }

 private:
  Mailbox& mailbox_;
  TaskId task_;
};

Engine::OpenStore opener_of(const std::string& state) {
  if (!state.empty()) return [state] { return open_sqlite_store(state); };
  return
      [memory = std::make_shared<MemoryState>()] { return std::make_unique<MemoryStore>(memory); };
}

// Calls the sink from one thread at a time, whichever tells it something: an initialize() that is
// refused does not wait for the one that is at work, or for the loop.
EventSink one_at_a_time(EventSink sink) {
  if (!sink) return {};
  return [sink = std::move(sink), mutex = std::make_shared<std::mutex>()](const Event& event) {
    const std::lock_guard lock{*mutex};
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
        refusals_(events, calendar),
        engine_(calendar, policies_, opener_of(options.state), trace_, events) {}

  void initialize(std::vector<Registration> registrations) {
    or_tell([&] { enter_initializing(); });
    try {
      take_list(std::move(registrations));
      if (before_initialize_ == State::uninitialized) start_loop();
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
    std::unique_lock lock{lifecycle_mutex_};
    lifecycle_changed_.wait(lock, [this] { return lifecycle_ != State::initializing; });
    if (lifecycle_ == State::uninitialized) return;
    if (lifecycle_ == State::stopping) {
      // Somebody else is at it.
      lifecycle_changed_.wait(lock, [this] { return lifecycle_ != State::stopping; });
      return;
    }
    lifecycle_ = State::stopping;
    lock.unlock();
    {
      const std::lock_guard engine_lock{engine_mutex_};
      engine_.stop(clock_->now());
    }
    wake_up_.ring();
    loop_.join();
    clock_->set_alarm(Instant::max());
    workers_.reset();
    callbacks_.clear();
    const std::exception_ptr error = engine_.stop_error();
    enter(State::uninitialized);
    if (error) throw_stop_error(error);
  }

 private:
  enum class State { uninitialized, initializing, running, stopping };

  struct Running {
    std::stop_source stop;
    Instant deadline;
    bool timed_out = false;
  };

  // Where there is no bound on callbacks, there still is one on threads.
  static constexpr std::size_t threads_max = 1024;

  void enter_initializing() {
    const std::lock_guard lock{lifecycle_mutex_};
    const bool reconcile = policies_.reinitialize == Reinitialize::reconcile;
    if (lifecycle_ == State::initializing) throw SchedulerAlreadyActiveError("initializing");
    if (lifecycle_ == State::stopping) throw SchedulerAlreadyActiveError("stopping");
    if (lifecycle_ == State::running && !reconcile) throw SchedulerAlreadyActiveError("running");
    before_initialize_ = std::exchange(lifecycle_, State::initializing);
  }

  void enter(State state) {
    {
      const std::lock_guard lock{lifecycle_mutex_};
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
      refusals_.initialization_failed(error.what(), clock_->now());
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

  void start_loop() {
    try {
      workers_.emplace(policies_.max_concurrent == 0 ? threads_max : policies_.max_concurrent);
      loop_ = std::thread{[this] { loop(); }};
    } catch (...) {
      // The host has no thread left: let go of the state, as if nothing had been.
      const std::lock_guard lock{engine_mutex_};
      engine_.stop(clock_->now());
      workers_.reset();
      callbacks_.clear();
      throw;
    }
  }

  void take_list(std::vector<Registration> registrations) {
    auto [list, callbacks] = or_tell([&] { return split(std::move(registrations)); });
    const std::lock_guard lock{engine_mutex_};
    engine_.initialize(std::move(list), clock_->now());
    callbacks_ = std::move(callbacks);
    clock_->set_alarm(std::min(engine_.next_wake(), next_deadline()));
  }

  // The loop sleeps until something is due, has ended, or is asked of it; it never polls.
  void loop() {
    while (true) {
      {
        const std::lock_guard lock{engine_mutex_};
        while (step()) {
        }
        if (engine_.lifecycle() == Lifecycle::uninitialized) return;
        clock_->set_alarm(std::min(engine_.next_wake(), next_deadline()));
      }
      ask_to_stop();
      const int timeout = workers_->grow() ? grow_after_ms : -1;
      std::array<pollfd, 2> waiting{
          {{.fd = clock_->descriptor(), .events = POLLIN, .revents = 0},
           {.fd = wake_up_.descriptor(), .events = POLLIN, .revents = 0}}};
      (void)poll(waiting.data(), waiting.size(), timeout);
      clock_->take_alarm();
      wake_up_.take();
    }
  }

  // One step of the engine; says whether there may be more to do at once.
  bool step() {
    const Instant now = clock_->now();
    auto ended = mailbox_.take();
    for (auto& [task, outcome, error] : ended) {
      const auto running = running_.find(task);
      if (running->second.timed_out) {
        outcome = Outcome::failure;
        error = "it ran past its time limit";
      }
      deadlines_.erase({running->second.deadline, task});
      running_.erase(running);
      engine_.end(task, outcome, now, std::move(error));
    }
    enforce_limits(now);
    const bool polling = engine_.next_wake() <= now;
    if (polling) engine_.reporter().poll_started(callbacks_.size(), now);
    const auto starts = engine_.step(now, starts_per_step);
    if (polling) engine_.reporter().poll_completed(starts.size(), clock_->now() - now, now);
    dispatch(starts);
    return !starts.empty() || !ended.empty();
  }

  void dispatch(const std::vector<Start>& starts) {
    std::vector<Workers::Job> jobs;
    jobs.reserve(starts.size());
    for (const Start& start : starts) {
      const Core::Task& task = engine_.core().task(start.task);
      const auto& callback = callbacks_[task.config.registration];
      Running& running = running_[start.task];
      running.deadline = callback->time_limit > Duration::zero()
                             ? later(start.at, callback->time_limit)
                             : Instant::max();
      if (running.deadline != Instant::max()) deadlines_.insert({running.deadline, start.task});
      RunInfo info{.task = task.config.name,
                   .reason = start.reason,
                   .pulse = task.progress.pulse,
                   .attempt = task.progress.attempt,
                   .started = start.at,
                   .stop = running.stop.get_token()};
      jobs.emplace_back([this, callback, info = std::move(info), id = start.task]() mutable {
        current = this;
        callback->callback(Run{std::move(info), std::make_shared<MailboxSettler>(mailbox_, id)});
        current = nullptr;
      });
    }
    workers_->add(std::move(jobs));
  }

  // RULES X2
  void enforce_limits(Instant now) {
    while (!deadlines_.empty() && deadlines_.begin()->first <= now) {
      Running& running = running_.at(deadlines_.begin()->second);
      deadlines_.erase(deadlines_.begin());
      running.timed_out = true;
      overdue_.push_back(running.stop);
    }
  }

  // Runs what users have hung on their stop tokens, so nothing of ours is locked meanwhile.
  void ask_to_stop() {
    current = this;
    for (std::stop_source& run : std::exchange(overdue_, {})) run.request_stop();
    current = nullptr;
  }

  [[nodiscard]] Instant next_deadline() const {
    return deadlines_.empty() ? Instant::max() : deadlines_.begin()->first;
  }

  // The scheduler whose callback this thread runs.
  static thread_local const Impl* current;

  std::shared_ptr<Clock> clock_;
  Policies policies_;
  NoTrace trace_;
  Reporter refusals_;  // of initialize(); any thread may use it

  std::mutex lifecycle_mutex_;
  std::condition_variable lifecycle_changed_;
  State lifecycle_ = State::uninitialized;          // guarded by lifecycle_mutex_
  State before_initialize_ = State::uninitialized;  // belongs to whoever set `initializing`

  WakeUp wake_up_;
  Mailbox mailbox_{wake_up_};

  std::mutex engine_mutex_;  // guards what follows, up to the threads
  Engine engine_;
  Callbacks callbacks_;  // by TaskConfig::registration
  std::unordered_map<TaskId, Running> running_;
  std::set<std::pair<Instant, TaskId>> deadlines_;  // of running_, where there is one
  std::vector<std::stop_source> overdue_;           // belongs to the loop

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
