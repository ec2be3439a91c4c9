#include <algorithm>
#include <chrono>
#include <exception>
#include <new>
#include <utility>

#include <dutiful/scheduler.h>

#include "core/message_of.h"
#include "engine/refusal.h"
#include "engine/reporter.h"
#include "posix/bell.h"
#include "runtime/calls.h"
#include "runtime/engine_driver.h"
#include "runtime/loop.h"
#include "runtime/open_trace.h"
#include "runtime/options.h"
#include "runtime/pending_stop.h"
#include "runtime/registrations.h"
#include "runtime/user_code.h"
#include "sync/mutex.h"

namespace dutiful {
namespace {

std::vector<TracedRegistration> traced(const std::vector<Registration>& registrations) {
  std::vector<TracedRegistration> list;
  list.reserve(registrations.size());
  for (const Registration& registration : registrations) {
    list.push_back({registration.name, registration.cron, registration.retry_delay});
  }
  return list;
}

}  // namespace

// The lifecycle: initialize() and stop(), from their entry to their return.
class Scheduler::Impl {
 public:
  explicit Impl(const Options& options)
      : Impl(options, calendar_of(options), synchronized_sink_of(options)) {}

  Impl(const Options& options, const Calendar& calendar, const TypedSink& events)
      : clock_(clock_of(options)),
        prepare_(options.prepare),
        reporter_(events, calendar),
        trace_(open_trace(options, calendar.zone(), reporter_, *clock_)),
        is_traced_(trace_->listens()),
        calls_(*clock_, options.reinitialize, is_traced_),
        driver_(
            {*clock_, calls_, *trace_, wake_up_}, options, calendar, events, [this] { prepare(); }),
        loop_({this, *clock_, calls_, wake_up_, reporter_}, options.max_concurrent) {}

  void initialize(std::vector<Registration> registrations) {
    try {
      enter_and_take_list(std::move(registrations));
    } catch (...) {
      std::rethrow_exception(as_initialize_error(std::current_exception()));
    }
  }

  // Returns the tasks whose runs have not ended at the deadline, if there is one.
  std::vector<std::string> stop(Calls::Deadline deadline) {
    return finish_stop(begin_stop(nullptr), deadline);
  }

  // Its two parts. `all_ended` rings when the second has little to wait for.
  std::uint64_t begin_stop(Bell* all_ended) {
    if (UserCode::is_inside(this)) {
      throw StopSchedulerError(
          "it was called by a callback of the same scheduler, which it would "
          "wait for; call it from elsewhere",
          nullptr);
    }
    if (all_ended != nullptr) loop_.ring_at_end(*all_ended);
    const std::uint64_t call = enter_stop();
    wake_up_.ring();
    return call;
  }

  std::vector<std::string> finish_stop(std::uint64_t call, Calls::Deadline deadline) {
    while (true) {
      switch (calls_.wait_for_stop(call, deadline)) {
        case Calls::StopProgress::done:
          trace_calls();
          return {};
        case Calls::StopProgress::loop_ended:
          clear_away();
          return {};
        case Calls::StopProgress::deadline_passed:
          // If everything has ended just now, the next look finds that out.
          if (auto names = unfinished(); !names.empty()) return names;
          deadline.reset();
          break;
      }
    }
  }

  // Whether no list is there, nor on its way.
  [[nodiscard]] bool is_idle() { return calls_.is_idle(); }

 private:
  void enter_and_take_list(std::vector<Registration> registrations) {
    const Calls::Initialization call = enter_initialize(registrations);
    try {
      take_list(std::move(registrations), call);
    } catch (...) {
      const std::exception_ptr error = as_initialize_error(std::current_exception());
      calls_.leave_initialize(call, error);
      wake_up_.ring();
      trace_calls();
      std::rethrow_exception(error);
    }
    calls_.leave_initialize();
    wake_up_.ring();
  }

  Calls::Initialization enter_initialize(const std::vector<Registration>& registrations) {
    try {
      return calls_.enter_initialize(
          is_traced_ ? traced(registrations) : std::vector<TracedRegistration>{},
          UserCode::is_inside(this, UserCode::Kind::preparation) ? Calls::Caller::inside_initialize
                                                                 : Calls::Caller::outside);
    } catch (const SchedulerAlreadyActiveError&) {
      wake_up_.ring();  // the loop traces the refusal
      throw;
    }
  }

  void take_list(std::vector<Registration> registrations, const Calls::Initialization& call) {
    const std::size_t total = registrations.size();
    auto [list, callbacks] =
        report_failure_of(total, [&] { return separate_callbacks(std::move(registrations)); });
    Lock lock{driver_.mutex};
    // If the host gives no thread, that is an error before anything has changed.
    report_failure_of(total, [&, &callbacks = callbacks] {
      driver_.mutex.assert_held();
      loop_.start(callbacks, driver_);
    });
    try {
      driver_.initialize(std::move(list), callbacks, call, loop_.workers());
    } catch (...) {
      lock.unlock();
      if (call.first) loop_.join();  // it finds nothing to do
      throw;
    }
    lock.unlock();
    destroy(callbacks);
  }

  // For what initialize() does before it calls the engine, which reports its failures itself.
  template <typename Work>
  std::invoke_result_t<Work> report_failure_of(std::size_t total, Work work) {
    try {
      return work();
    } catch (const std::exception&) {
      const Instant now = clock_->now();
      reporter_.initialization_started(Reporter::Initialization::first, total, now);
      reporter_.initialization_failed(std::current_exception(), now);
      throw;
    }
  }

  void prepare() {
    if (!prepare_) return;
    const UserCode inside{this, UserCode::Kind::preparation};
    prepare_();
  }

  std::uint64_t enter_stop() {
    try {
      return calls_.enter_stop();
    } catch (const std::bad_alloc&) {
      throw StopSchedulerError("memory is exhausted", std::current_exception());
    }
  }

  // One caller of stop() does this after the loop has ended.
  void clear_away() {
    loop_.join();
    Callbacks callbacks;
    std::exception_ptr error;
    {
      const Lock lock{driver_.mutex};
      callbacks = driver_.take_callbacks();
      error = driver_.stop_error();
    }
    destroy(callbacks);
    calls_.leave_stop(error ? Calls::Ends::lost : Calls::Ends::recorded);
    trace_calls();
    if (!error) return;
    throw StopSchedulerError(
        "the end of a run could not be recorded; the run will be restarted: " + message_of(error),
        error);
  }

  std::vector<std::string> unfinished() {
    const Lock lock{driver_.mutex};
    return driver_.unfinished();
  }

  // For a call that no step of the loop may follow.
  void trace_calls() noexcept {
    if (!is_traced_) return;
    const Lock lock{driver_.mutex};
    driver_.trace_calls();
  }

  // A callback may do anything when it is destroyed, so no lock may be held.
  void destroy(Callbacks& callbacks) {
    const UserCode inside{this, UserCode::Kind::callback};
    callbacks.clear();
  }

  const std::shared_ptr<Clock> clock_;
  const std::function<void()> prepare_;
  Reporter reporter_;  // for what the engine has no part in; any thread may use it
  Bell wake_up_;
  const std::unique_ptr<TraceSink> trace_;
  const bool is_traced_;
  Calls calls_;
  EngineDriver driver_;
  Loop loop_;
};

Scheduler::Scheduler(const Options& options) : impl_(std::make_unique<Impl>(options)) {}

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
