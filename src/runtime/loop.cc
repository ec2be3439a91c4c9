#include "runtime/loop.h"

#include <algorithm>
#include <array>
#include <new>
#include <system_error>
#include <utility>

#include <poll.h>

#include <dutiful/errors.h>

#include "core/best_effort.h"
#include "core/task.h"
#include "runtime/prompt_callback.h"
#include "runtime/system_clock.h"
#include "runtime/user_code.h"

namespace dutiful {
namespace {

// If callbacks have no bound, threads still have one.
constexpr std::size_t threads_max = 1024;

// How long work may wait for a thread before there are more of them.
constexpr int grow_after_ms = 1;

int to_milliseconds(Duration duration) {
  return static_cast<int>(duration.count());
}

}  // namespace

Loop::Loop(Surroundings around, std::size_t max_concurrent)
    : scheduler_(around.scheduler),
      clock_(around.clock),
      calls_(around.calls),
      wake_up_(around.wake_up),
      reporter_(around.reporter),
      workers_max_(max_concurrent == 0 ? threads_max : max_concurrent) {}

void Loop::start(const Callbacks& callbacks, EngineDriver& driver) {
  const bool is_first = !thread_.joinable();
  const bool needs_worker = !std::ranges::all_of(
      callbacks, [](const CallbackOf& task) { return PromptCallback::is(task.callback); });
  try {
    if (is_first) {
      workers_.emplace(workers_max_,
                       [this](std::shared_ptr<ActiveRun> run) { call(std::move(run)); });
    }
    if (needs_worker) workers_->start_first();
    if (is_first) {
      is_running_ = true;
      thread_ = std::thread{[this, &driver] { run(driver); }};
    }
  } catch (...) {
    if (is_first) {
      is_running_ = false;
      workers_.reset();
    }
    try {
      throw;
    } catch (const std::system_error&) {
      throw ThreadError{std::current_exception()};
    }
  }
}

// A step of the loop: what comes next, and what is to be done before it, without the mutex.
struct Loop::Step {
  EngineDriver::Next next;
  EngineDriver::DeferredWork work;
};

void Loop::run(EngineDriver& driver) {
  for (auto next = EngineDriver::Next::step; next != EngineDriver::Next::end;) {
    Step now = step(driver);
    while (!now.work.prompt.empty()) call(now.work.prompt.pop());
    {
      const UserCode inside{scheduler_, UserCode::Kind::callback};
      now.work.ended.clear();
      send(now.work.stop_requests);
    }
    next = now.next;
    if (turned_ != nullptr) ring_turned();
    if (next == EngineDriver::Next::sleep) sleep();
  }
  finish(driver);
}

// Releases everything, whether a stop() waits for that or not.
void Loop::finish(EngineDriver& driver) noexcept {
  is_running_ = false;
  ring_turned();
  auto ends = Calls::Ends::recorded;
  {
    const UserCode inside{scheduler_, UserCode::Kind::callback};
    workers_.reset();
    Callbacks callbacks;  // destroyed after the lock is released
    const Lock lock{driver.mutex};
    callbacks = driver.take_callbacks();
    if (driver.stop_error()) ends = Calls::Ends::lost;
  }
  // Nothing listens to an alarm that is left.
  best_effort([this] { clock_.set_alarm(Instant::max()); });
  calls_.loop_has_ended(ends);
  {
    const Lock lock{driver.mutex};
    driver.trace_calls();
  }
  if (Bell* const all_ended = all_ended_.exchange(nullptr)) all_ended->ring();
}

void Loop::ring_turned() noexcept {
  if (Bell* const turned = turned_.exchange(nullptr)) turned->ring();
}

Loop::Step Loop::step(EngineDriver& driver) {
  auto next = EngineDriver::Next::sleep;
  const Lock lock{driver.mutex};
  try {
    next = driver.step(*workers_);
    memory_.succeed();
  } catch (const std::bad_alloc&) {
    report_exhausted("memory is exhausted", memory_.fail());
  } catch (const std::exception& error) {
    report_exhausted(error.what(), memory_.fail());
  } catch (...) {
    report_exhausted("the clock threw an unknown exception", memory_.fail());
  }
  return {next, driver.take_deferred_work()};
}

void Loop::sleep() {
  std::array<pollfd, 2> waiting{{{.fd = wake_up_.descriptor(), .events = POLLIN, .revents = 0},
                                 {.fd = clock_.descriptor(), .events = POLLIN, .revents = 0}}};
  if (memory_.waits()) {
    // Without the alarm, because an alarm in the past would ring forever.
    (void)poll(waiting.data(), 1, to_milliseconds(memory_.delay()));
  } else {
    const int events = poll(waiting.data(), waiting.size(), grow_workers());
    if (events == 0) have_threads_waited_ = true;
    best_effort([this] { clock_.take_alarm(); });
  }
  wake_up_.take();
}

// Returns after how many milliseconds to call it again; -1: when there is more to do.
int Loop::grow_workers() {
  if (threads_.waits() && !std::exchange(have_threads_waited_, false)) {
    return to_milliseconds(threads_.delay());
  }
  const Workers::Growth growth = workers_->grow();
  if (growth == Workers::Growth::failed) {
    const Duration delay = threads_.fail();
    report_exhausted("no thread can be started for the runs that wait", delay);
    return to_milliseconds(delay);
  }
  threads_.succeed();
  return growth == Workers::Growth::wanted ? grow_after_ms : -1;
}

void Loop::call(std::shared_ptr<ActiveRun> run) noexcept {
  const UserCode inside{scheduler_, UserCode::Kind::callback};
  run->call();
  run.reset();  // which may destroy the callback
}

void Loop::report_exhausted(const char* error, Duration delay) noexcept {
  try {
    const Instant now = time_of_event(clock_);
    reporter_.report(event::ResourcesExhausted{error, later(now, delay)}, now);
  } catch (...) {
    // There is no memory to report it with.
  }
}

}  // namespace dutiful
