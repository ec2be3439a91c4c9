#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <new>
#include <system_error>
#include <utility>

#include <poll.h>

#include <dutiful/scheduler.h>

#include "core/best_effort.h"
#include "core/message_of.h"
#include "engine/refusal.h"
#include "engine/reporter.h"
#include "posix/bell.h"
#include "runtime/calls.h"
#include "runtime/engine_driver.h"
#include "runtime/judgement.h"
#include "runtime/loop.h"
#include "runtime/loop_probe.h"
#include "runtime/open_trace.h"
#include "runtime/options.h"
#include "runtime/pending_stop.h"
#include "runtime/read_status.h"
#include "runtime/registrations.h"
#include "runtime/system_clock.h"
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
        calendar_(calendar),
        max_concurrent_(options.max_concurrent),
        reporter_(events, calendar),
        judgement_(options.verify && !options.trace.empty() ? std::make_shared<JudgementBoard>()
                                                            : nullptr),
        trace_(open_trace(options, calendar.zone(), reporter_, *clock_, judgement_)),
        is_traced_(trace_->listens()),
        calls_(*clock_, options.reinitialize, is_traced_),
        driver_({*clock_, calls_, *trace_, wake_up_, board_},
                options,
                calendar,
                events,
                [this] { prepare(); }),
        loop_({this, *clock_, calls_, wake_up_, reporter_}, options.max_concurrent) {}

  void initialize(std::vector<Registration> registrations) {
    Callbacks callbacks;
    std::exception_ptr error;
    try {
      enter_and_take_list(registrations, callbacks);
    } catch (...) {
      error = as_initialize_error(std::current_exception());
    }
    // Only now, when no other call waits for this one, because their destructors may call, too.
    destroy(registrations, callbacks);
    if (error) std::rethrow_exception(error);
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
    try {
      return wait_for_stop(call, deadline);
    } catch (const std::bad_alloc&) {
      throw StopSchedulerError("memory is exhausted", std::current_exception());
    }
  }

  [[nodiscard]] SchedulerStatus status() const {
    // Before the list: a list that this call finds is not older.
    const SchedulerStatus::Lifecycle lifecycle = calls_.lifecycle();
    return read_status(board_, calendar_, lifecycle, max_concurrent_, clock_->now());
  }

  LoopProbe::Answer ask_loop(Duration patience) {
    // The first initialize() starts the loop, which then waits for it.
    if (calls_.lifecycle() == SchedulerStatus::Lifecycle::initializing && !board_.list()) {
      return LoopProbe::Answer::no_loop;
    }
    if (is_probed_.exchange(true)) return last_answer_;
    turned_.take();
    bool has_turned = false;
    if (loop_.ring_after_turn(&turned_)) {
      wake_up_.ring();
      pollfd waiting{.fd = turned_.descriptor(), .events = POLLIN, .revents = 0};
      has_turned = poll(&waiting, 1, static_cast<int>(patience.count())) == 1;
    }
    const LoopProbe::Answer answer = !loop_.ring_after_turn(nullptr) ? LoopProbe::Answer::no_loop
                                     : has_turned                    ? LoopProbe::Answer::turns
                                                                     : LoopProbe::Answer::hangs;
    last_answer_ = answer;
    is_probed_ = false;
    return answer;
  }

  [[nodiscard]] std::optional<Judgement> judgement() const {
    return judgement_ ? judgement_->read() : std::nullopt;
  }

  // Whether no list is there, nor on its way.
  [[nodiscard]] bool is_idle() { return calls_.is_idle(); }

 private:
  std::vector<std::string> wait_for_stop(std::uint64_t call, Calls::Deadline deadline) {
    while (true) {
      switch (calls_.wait_for_stop(call, deadline)) {
        case Calls::StopProgress::done:
          trace_calls();
          return {};
        case Calls::StopProgress::loop_ended:
          complete_stop();
          return {};
        case Calls::StopProgress::deadline_passed:
          // If everything has ended just now, the next look finds that out.
          if (auto names = unfinished(); !names.empty() && calls_.abandon_stop()) return names;
          deadline.reset();
          break;
      }
    }
  }

  // Moves the callbacks of the list into `callbacks`, and swaps them with those of the previous
  // list when it is durable.
  void enter_and_take_list(std::vector<Registration>& registrations, Callbacks& callbacks) {
    const Calls::Initialization call = enter_initialize(registrations);
    try {
      take_list(registrations, callbacks, call);
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
    } catch (...) {
      wake_up_.ring();  // the loop traces the refusal, and may wait for this call to end
      throw;
    }
  }

  void take_list(std::vector<Registration>& registrations,
                 Callbacks& callbacks,
                 const Calls::Initialization& call) {
    if (call.must_join) loop_.join();
    const std::size_t total = registrations.size();
    std::vector<TaskConfig> list =
        report_failure_of(call, total, [&] { return take_callbacks(registrations, callbacks); });
    Lock lock{driver_.mutex};
    // If the host gives no thread, that is an error before anything has changed.
    report_failure_of(call, total, [&] {
      driver_.mutex.assert_held();
      loop_.start(callbacks, driver_);
    });
    try {
      const Instant now = report_failure_of(call, total, [&] {
        driver_.mutex.assert_held();
        return driver_.begin_initialize(call, loop_.workers());
      });
      driver_.initialize(std::move(list), callbacks, call, now);
    } catch (...) {
      lock.unlock();
      if (call.first) loop_.join();  // it finds nothing to do
      throw;
    }
  }

  // For what initialize() does before it calls the engine, which reports its failures itself.
  template <typename Work>
  std::invoke_result_t<Work> report_failure_of(const Calls::Initialization& call,
                                               std::size_t total,
                                               Work work) {
    try {
      return work();
    } catch (...) {
      const std::exception_ptr error = as_initialize_error(std::current_exception());
      best_effort([&] {
        const Instant now = time_of_event(*clock_);
        reporter_.initialization_started(
            call.first ? Reporter::Initialization::first : Reporter::Initialization::again,
            total,
            now);
        reporter_.initialization_failed(error, now);
      });
      std::rethrow_exception(error);
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
  void complete_stop() {
    loop_.join();
    const std::exception_ptr error = stop_error();
    calls_.leave_stop(error ? Calls::Ends::lost : Calls::Ends::recorded);
    trace_calls();
    if (!error) return;
    throw StopSchedulerError(
        "the end of a run could not be recorded; the run will be restarted: " + message_of(error),
        error);
  }

  std::exception_ptr stop_error() {
    const Lock lock{driver_.mutex};
    return driver_.stop_error();
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
  void destroy(std::vector<Registration>& registrations, Callbacks& callbacks) {
    const UserCode inside{this, UserCode::Kind::callback};
    registrations.clear();
    callbacks.clear();
  }

  const std::shared_ptr<Clock> clock_;
  const std::function<void()> prepare_;
  const Calendar calendar_;
  const std::size_t max_concurrent_;
  Reporter reporter_;  // for what the engine has no part in; any thread may use it
  Bell wake_up_;
  // For a probe; one thread at a time asks, and the others take the last answer.
  std::atomic<bool> is_probed_ = false;
  std::atomic<LoopProbe::Answer> last_answer_ = LoopProbe::Answer::turns;
  Bell turned_;                                      // rung by the loop
  const std::shared_ptr<JudgementBoard> judgement_;  // none: the trace is not checked
  const std::unique_ptr<TraceSink> trace_;
  const bool is_traced_;
  Calls calls_;
  StatusBoard board_;
  EngineDriver driver_;
  Loop loop_;
};

Scheduler::Scheduler(const Options& options) try : impl_(std::make_unique<Impl>(options)) {
} catch (const std::bad_alloc&) {
  throw;
} catch (const std::system_error& error) {
  const bool too_many = error.code() == std::errc::too_many_files_open ||
                        error.code() == std::errc::too_many_files_open_in_system;
  throw InitializeSchedulerError(
      too_many ? "too many files are open; raise the limit (ulimit -n)" : error.what(),
      std::current_exception());
} catch (...) {
  std::rethrow_exception(as_initialize_error(std::current_exception()));
}

Scheduler::~Scheduler() {  // NOLINT(bugprone-exception-escape): see the header
  try {
    if (!impl_->is_idle()) impl_->stop(std::nullopt);
  } catch (...) {
    // There is nobody to report to. If a callback destroys its own scheduler, the threads that
    // still run terminate the process.
  }
}

void Scheduler::initialize(std::vector<Registration> registrations) {
  impl_->initialize(std::move(registrations));
}

SchedulerStatus Scheduler::status() const {
  return impl_->status();
}

void Scheduler::stop() {
  (void)impl_->stop(std::nullopt);
}

PendingStop::PendingStop(Scheduler& scheduler, Bell& all_ended)
    : scheduler_(scheduler), call_(scheduler.impl_->begin_stop(&all_ended)) {}

LoopProbe::Answer LoopProbe::ask(Duration patience) const {
  return scheduler_.impl_->ask_loop(patience);
}

std::optional<Judgement> JudgementProbe::ask() const {
  return scheduler_.impl_->judgement();
}

void PendingStop::finish() {
  (void)scheduler_.impl_->finish_stop(call_, std::nullopt);
}

std::vector<std::string> Scheduler::stop(Duration patience) {
  constexpr Duration patience_max = std::chrono::days{36'525};  // far from where clocks overflow
  patience = std::clamp(patience, Duration::zero(), patience_max);
  return impl_->stop(std::chrono::steady_clock::now() + patience);
}

}  // namespace dutiful
