#include <stdexcept>

#include <dutiful/testing.h>

#include "engine/engine.h"
#include "runtime/active_run.h"
#include "runtime/no_trace.h"
#include "runtime/registrations.h"
#include "store/memory/memory_store.h"

namespace dutiful {
namespace {

// More retries at one instant than any test means: a task that fails at once is retried at once.
constexpr std::size_t retries_at_once_max = 100'000;

}  // namespace

class VirtualScheduler::Impl {
 public:
  Impl(Instant now, Options options) : now_(now), options_(std::move(options)) { boot(); }

  void boot() {
    mailbox_ = std::make_shared<Mailbox>();  // that of a crash before is nobody's
    ended_.clear();
    engine_ = std::make_unique<Engine>(
        Calendar{options_.zone ? *options_.zone : Zone::host(), options_.repeated_minutes},
        Policies{.repeated_minutes = options_.repeated_minutes,
                 .reinitialize = options_.reinitialize,
                 .override = options_.override,
                 .max_concurrent = options_.max_concurrent},
        [this] { return std::make_unique<MemoryStore>(state_); },
        trace_,
        options_.events,
        [this] {
          if (options_.prepare) options_.prepare();
          return now_;
        });
  }

  void initialize(std::vector<Registration> registrations) {
    auto [list, callbacks] = take_apart(std::move(registrations));
    engine_->initialize(std::move(list), now_);
    callbacks_ = std::move(callbacks);
    run_due();
  }

  void stop() {
    take_ends();
    if (engine_->core().running() > 0) {
      throw StopSchedulerError("runs that were kept are not settled; settle them first", nullptr);
    }
    engine_->settle(now_);
    engine_->stop(now_);
  }

  void crash() {
    engine_.reset();
    boot();
  }

  void advance(Duration duration) {
    const Instant until = now_ + duration;
    run_due();
    while (engine_->next_wake() <= until) {
      now_ = std::max(now_, engine_->next_wake());
      run_due();
    }
    now_ = until;
  }

  [[nodiscard]] Instant now() const { return now_; }

 private:
  std::pair<std::vector<TaskConfig>, Callbacks> take_apart(std::vector<Registration> list) {
    try {
      return split(std::move(list));
    } catch (const Error& error) {
      engine_->reporter().initialization_failed(error.what(), now_);
      throw;
    }
  }

  void take_ends() {
    ended_.append(mailbox_->take());
    for (; !ended_.empty(); ended_.pop()) {
      const ActiveRun& run = ended_.front();
      engine_->end(run.task, run.outcome, now_, run.error);
    }
  }

  // Everything that happens at this instant.
  void run_due() {
    for (std::size_t started = 0;;) {
      take_ends();
      const auto starts = engine_->step(now_);
      if (starts.empty()) return;
      for (const Start& start : starts) {
        if (++started > callbacks_.size() + retries_at_once_max) {
          throw std::runtime_error("virtual time stands still: a task fails at once, for ever");
        }
        const Core::Task& task = engine_->core().task(start.task);
        RunInfo info{.task = task.name,
                     .reason = start.reason,
                     .pulse = task.progress.pulse,
                     .attempt = task.progress.attempt,
                     .fence = task.progress.fence,
                     .recurrence = task.progress.recurrence,
                     .started = start.at,
                     .stop = {}};
        std::make_shared<ActiveRun>(
            start.task, std::move(info), callbacks_[task.registration].callback, mailbox_)
            ->call();
      }
    }
  }

  Instant now_;
  Options options_;
  NoTrace trace_;
  std::shared_ptr<MemoryState> state_ = std::make_shared<MemoryState>();
  std::shared_ptr<Mailbox> mailbox_;
  Queue<ActiveRun> ended_;
  std::unique_ptr<Engine> engine_;
  Callbacks callbacks_;
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
