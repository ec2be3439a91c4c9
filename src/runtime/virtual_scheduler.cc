#include <algorithm>
#include <stdexcept>

#include <dutiful/testing.h>

#include "engine/engine.h"
#include "runtime/active_run.h"
#include "runtime/no_trace.h"
#include "runtime/options.h"
#include "runtime/registrations.h"
#include "runtime/runs_in_progress.h"
#include "store/memory/memory_store.h"

namespace dutiful {
namespace {

// More retries at one instant than any test means: a task that fails at once is retried at once.
constexpr std::size_t retries_at_once_max = 100'000;

// Shows what it is told to.
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

// Requires an instant in the range of clocks, which is far from where milliseconds overflow.
Instant sum(Instant instant, Duration duration) {
  if (duration > Duration::max() / 2) return Instant::max();
  if (duration < Duration::min() / 2) return Instant::min();
  return instant + duration;
}

}  // namespace

class VirtualScheduler::Impl {
 public:
  Impl(Instant now, Options options) : clock_(now), options_(std::move(options)) {
    if (!in_clock_range(now)) throw ClockError{now};
    boot();
  }

  void boot() {
    mailbox_ = std::make_shared<Mailbox>(clock_);  // that of a crash before is nobody's
    ended_.clear();
    runs_ = {};
    engine_ = std::make_unique<Engine>(
        calendar_of(options_),
        policies_of(options_),
        [this] { return std::make_unique<MemoryStore>(state_); },
        trace_,
        typed_sink(options_.events),
        [this] {
          if (options_.prepare) options_.prepare();
          return now();
        });
  }

  void initialize(std::vector<Registration> registrations) {
    auto [list, callbacks] = separate_callbacks(std::move(registrations));
    engine_->initialize(std::move(list), now());
    callbacks_.swap(callbacks);
    run_due();
  }

  void stop() {
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

 private:
  // When a run is to start, or to be asked to end.
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

  // Everything that happens at this instant.
  void run_due() {
    for (std::size_t started = 0;;) {
      take_ends();
      runs_.enforce_limits(now());
      send(runs_.take_stop_requests());
      take_ends();
      // All are made before any is called: a callback may replace the list, or the process.
      std::vector<std::shared_ptr<ActiveRun>> runs;
      for (Start& start : engine_->step(now()).starts) runs.push_back(make_run(start));
      if (runs.empty()) return;
      started += runs.size();
      if (started > callbacks_.size() + retries_at_once_max) {
        throw std::runtime_error("virtual time stands still: a task fails at once, for ever");
      }
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
  NoTrace trace_;
  std::shared_ptr<MemoryState> state_ = std::make_shared<MemoryState>();
  std::shared_ptr<Mailbox> mailbox_;
  Queue<ActiveRun> ended_;
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
Instant VirtualScheduler::now() const {
  return impl_->now();
}

}  // namespace dutiful
