#include <algorithm>
#include <utility>

#include <dutiful/testing.h>

#include "engine/engine.h"
#include "runtime/active_run.h"
#include "runtime/no_trace.h"
#include "runtime/options.h"
#include "runtime/read_status.h"
#include "runtime/registrations.h"
#include "runtime/runs_in_progress.h"
#include "store/memory/memory_store.h"
#include "text/quote.h"

namespace dutiful {
namespace {

// More starts at one instant are a mistake: a task without a retry delay that always fails.
constexpr std::size_t retries_at_once_max = 100'000;

// Shows the time that it was moved to.
class VirtualClock : public Clock {
 public:
  explicit VirtualClock(Instant begin) : instant_(begin) {}
  [[nodiscard]] Instant now() const override { return instant_; }
  [[nodiscard]] Duration monotonic() const override { return passed_; }
  void set_alarm(Instant /*instant*/) override {}
  void take_alarm() override {}
  [[nodiscard]] int descriptor() const override { return -1; }

  void move(Instant to) {
    passed_ += std::max(to - instant_, Duration::zero());
    instant_ = to;
  }

 private:
  Instant instant_;
  Duration passed_{};
};

// Saturates. Requires an instant in the range of clocks, which is far from overflow.
Instant sum(Instant instant, Duration duration) {
  if (duration > Duration::max() / 2) return Instant::max();
  if (duration < Duration::min() / 2) return Instant::min();
  return instant + duration;
}

}  // namespace

VirtualTimeError::VirtualTimeError(std::string task_name)
    : Error("Virtual time stands still: task " + quote(task_name) +
            " fails and is retried at once, forever; give it a retry delay"),
      task_name_(std::move(task_name)) {}

std::vector<ErrorField> VirtualTimeError::fields() const {
  return {{"taskName", task_name_}};
}

class VirtualScheduler::Impl {
 public:
  Impl(Instant now, Options options)
      : clock_(now), options_(std::move(options)), calendar_(calendar_of(options_)) {
    if (!in_clock_range(now)) throw ClockError{now};
    boot();
  }

  void boot() {
    mailbox_ = std::make_shared<Mailbox>(clock_);  // runs from before a crash keep the old one
    ended_.clear();
    runs_ = {};
    engine_ = std::make_unique<Engine>(
        calendar_,
        policies_of(options_),
        [this] { return std::make_unique<MemoryStore>(state_); },
        trace_,
        typed_sink(options_.events),
        [this] {
          if (options_.prepare) options_.prepare();
          return now();
        },
        &board_);
  }

  void initialize(std::vector<Registration> registrations) {
    Callbacks callbacks;
    auto list = take_callbacks(registrations, callbacks);
    {
      const Inside inside{call_, Call::initialize};
      engine_->initialize(std::move(list), now());
    }
    callbacks_.swap(callbacks);
    run_due();
  }

  void stop() {
    const Inside inside{call_, Call::stop};
    runs_.request_stop_of_all();
    send(runs_.take_stop_requests());
    take_ends();
    if (engine_->core().running() > 0) {
      throw StopSchedulerError("runs that were kept are not settled; settle them first", nullptr);
    }
    engine_->record_ends(now());
    engine_->stop(now());
  }

  void crash() {
    engine_.reset();
    board_.clear();
    boot();
  }

  void advance(Duration duration) {
    if (duration < clock_begin - now() || duration >= clock_end - now()) {
      throw ClockError{sum(now(), duration)};
    }
    const Instant until = now() + duration;
    run_due();
    for (Instant wake = next_wake(); wake <= until; wake = next_wake()) {
      clock_.move(std::max(now(), wake));
      run_due();
    }
    clock_.move(until);
  }

  [[nodiscard]] Instant now() const { return clock_.now(); }

  [[nodiscard]] SchedulerStatus status() const {
    return read_status(board_, calendar_, lifecycle(), options_.max_concurrent, clock_.now());
  }

 private:
  // The call in progress, for a status() that user code calls meanwhile.
  enum class Call { none, initialize, stop };
  class Inside {
   public:
    Inside(Call& call, Call now) : call_(call), before_(std::exchange(call, now)) {}
    ~Inside() { call_ = before_; }
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;

   private:
    Call& call_;
    Call before_;
  };

  [[nodiscard]] SchedulerStatus::Lifecycle lifecycle() const {
    using Shown = SchedulerStatus::Lifecycle;
    if (call_ == Call::stop) return Shown::stopping;
    if (engine_->lifecycle() != Lifecycle::uninitialized) return Shown::running;
    return call_ == Call::initialize ? Shown::initializing : Shown::uninitialized;
  }

  // When a run next starts, or is asked to end.
  [[nodiscard]] Instant next_wake() const {
    return std::min(engine_->next_wake(), runs_.next_deadline());
  }

  void take_ends() {
    ended_.append(mailbox_->take());
    for (; !ended_.empty(); ended_.pop()) {
      const ActiveRun& run = ended_.front();
      engine_->end(run.task, run.ending(), now());
      runs_.remove(run);
    }
  }

  // Does everything that is due at this instant.
  void run_due() {
    std::string newest;
    for (std::size_t started = 0;;) {
      // Before the next starts, so that nothing is left half started.
      if (started > callbacks_.size() + retries_at_once_max) throw VirtualTimeError{newest};
      take_ends();
      runs_.enforce_limits(now());
      send(runs_.take_stop_requests());
      take_ends();
      // Makes all of them before it calls any: a callback may replace the list, or crash() the
      // scheduler.
      std::vector<std::shared_ptr<ActiveRun>> runs;
      for (Start& start : engine_->step(now()).starts) runs.push_back(make_run(start));
      if (runs.empty()) return;
      started += runs.size();
      newest = engine_->core().task(runs.back()->task).name;
      const auto process = mailbox_;
      for (const auto& run : runs) {
        if (mailbox_ == process) run->call();
      }
    }
  }

  std::shared_ptr<ActiveRun> make_run(Start& start) {
    auto run = make_active_run(start, callbacks_[start.registration], mailbox_, clock_);
    runs_.add(run);
    run->set_info(std::move(start));
    return run;
  }

  VirtualClock clock_;
  Options options_;
  Calendar calendar_;
  NoTrace trace_;
  std::shared_ptr<MemoryState> state_ = std::make_shared<MemoryState>();
  std::shared_ptr<Mailbox> mailbox_;
  Queue<ActiveRun> ended_;
  StatusBoard board_;
  Call call_ = Call::none;
  std::unique_ptr<Engine> engine_;
  Callbacks callbacks_;
  RunsInProgress runs_;
};

VirtualScheduler::VirtualScheduler(Instant now, Options options)
    : impl_(std::make_unique<Impl>(now, std::move(options))) {}
VirtualScheduler::~VirtualScheduler() = default;
void VirtualScheduler::initialize(std::vector<Registration> registrations) {
  impl_->initialize(std::move(registrations));
}
void VirtualScheduler::stop() {
  impl_->stop();
}
void VirtualScheduler::crash() {
  impl_->crash();
}
void VirtualScheduler::advance(Duration duration) {
  impl_->advance(duration);
}
SchedulerStatus VirtualScheduler::status() const {
  return impl_->status();
}
Instant VirtualScheduler::now() const {
  return impl_->now();
}

}  // namespace dutiful
