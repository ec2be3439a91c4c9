#include <mutex>
#include <stdexcept>

#include <dutiful/testing.h>

#include "engine/engine.h"
#include "runtime/no_trace.h"
#include "runtime/registrations.h"
#include "runtime/settler.h"
#include "store/memory/memory_store.h"

namespace dutiful {
namespace {

// More starts at one instant than any test means: a task that fails at once and is retried at once.
constexpr int starts_at_once_max = 1'000'000;

struct Ended {
  TaskId task;
  Outcome outcome;
  std::string error;
};

// Where runs report their end. After a crash nobody looks into it any more.
struct Ends {
  std::mutex mutex;
  std::vector<Ended> ended;
};

class EndsSettler : public Run::Settler {
 public:
  EndsSettler(std::shared_ptr<Ends> ends, TaskId task) : ends_(std::move(ends)), task_(task) {}
  void settle(Outcome outcome, std::string_view reason) noexcept override {
    const std::lock_guard lock{ends_->mutex};
    ends_->ended.push_back({task_, outcome, std::string{reason}});
  }

 private:
  std::shared_ptr<Ends> ends_;
  TaskId task_;
};

}  // namespace

class VirtualScheduler::Impl {
 public:
  Impl(Instant now, Options options) : now_(now), options_(std::move(options)) { boot(); }

  void boot() {
    ends_ = std::make_shared<Ends>();
    engine_ = std::make_unique<Engine>(
        Calendar{options_.zone ? *options_.zone : Zone::host(), options_.repeated_minutes},
        Policies{.repeated_minutes = options_.repeated_minutes,
                 .reinitialize = options_.reinitialize,
                 .override = options_.override,
                 .max_concurrent = options_.max_concurrent},
        [this] { return std::make_unique<MemoryStore>(state_); },
        trace_,
        options_.events);
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
    std::vector<Ended> ended;
    {
      const std::lock_guard lock{ends_->mutex};
      ended.swap(ends_->ended);
    }
    for (Ended& end : ended) engine_->end(end.task, end.outcome, now_, std::move(end.error));
  }

  // Everything that happens at this instant.
  void run_due() {
    for (int started = 0;;) {
      take_ends();
      const auto starts = engine_->step(now_);
      if (starts.empty()) return;
      for (const Start& start : starts) {
        if (++started > starts_at_once_max) {
          throw std::runtime_error("virtual time stands still: a task fails at once, for ever");
        }
        const Core::Task& task = engine_->core().task(start.task);
        const auto callback = callbacks_[task.config.registration];
        callback->callback(Run{{.task = task.config.name,
                                .reason = start.reason,
                                .pulse = task.progress.pulse,
                                .attempt = task.progress.attempt,
                                .started = start.at,
                                .stop = {}},
                               std::make_shared<EndsSettler>(ends_, start.task)});
      }
    }
  }

  Instant now_;
  Options options_;
  NoTrace trace_;
  std::shared_ptr<MemoryState> state_ = std::make_shared<MemoryState>();
  std::shared_ptr<Ends> ends_;
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
