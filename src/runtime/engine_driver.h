// Drives the engine in real time: gives it the calls, the ends and the time, and hands out the runs
// that it starts.
#pragma once

#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <dutiful/scheduler.h>

#include "engine/engine.h"
#include "posix/bell.h"
#include "runtime/active_run.h"
#include "runtime/calls.h"
#include "runtime/freeze_detector.h"
#include "runtime/queue.h"
#include "runtime/registrations.h"
#include "runtime/runs_in_progress.h"
#include "runtime/workers.h"
#include "sync/mutex.h"

namespace dutiful {

// The engine, and the runs that it has started, behind one mutex. The loop and the threads in
// initialize() and stop() use it.
//
// User code may do anything, so none runs under the mutex, except Options::prepare, the sink and
// the clock. The rest is collected as DeferredWork.
class EngineDriver {
 public:
  // All of them must outlive it.
  struct Surroundings {
    Clock& clock;
    Calls& calls;
    TraceSink& trace;
    Bell& wake_up;       // rings when a run has ended
    StatusBoard& board;  // shows what is durable
  };
  // `prepare` is called by initialize(), as Options::prepare is.
  EngineDriver(Surroundings around,
               const Options& options,
               const Calendar& calendar,
               const TypedSink& events,
               std::function<void()> prepare);

  // Guards everything here.
  Mutex mutex;

  // Must precede each initialize(), and returns its instant. Throws what the clock throws, and
  // std::bad_alloc.
  [[nodiscard]] Instant begin_initialize(const Calls::Initialization& call, Workers& workers)
      REQUIRES(mutex);
  // Makes the list durable. Swaps the callbacks with those of the previous list. Throws the errors
  // of RULES E, and changes nothing then.
  void initialize(std::vector<TaskConfig> list,
                  Callbacks& callbacks,
                  const Calls::Initialization& call,
                  Instant now) REQUIRES(mutex);

  // What the loop does next, after the deferred work.
  enum class Next {
    step,
    sleep,  // until the clock's alarm, or until it is woken
    end,    // everything has stopped
  };
  // Does what is due. If memory runs out, it throws and may be called again: no work is lost (RULES
  // X3).
  [[nodiscard]] Next step(Workers& workers) REQUIRES(mutex);

  // Work that runs user code, to be done after the mutex is released.
  struct DeferredWork {
    Queue<ActiveRun> prompt;  // to be called by the loop
    Queue<ActiveRun> ended;   // to be destroyed, with their callbacks
    StopRequests stop_requests;
  };
  [[nodiscard]] DeferredWork take_deferred_work() noexcept REQUIRES(mutex);

  // Traces the calls of initialize() and stop() so far, for a call that no step may follow.
  void trace_calls() noexcept REQUIRES(mutex);

  // The tasks whose runs have not ended, or whose ends are not recorded.
  [[nodiscard]] std::vector<std::string> unfinished() const REQUIRES(mutex) {
    return engine_.unfinished();
  }

  // For after the last step: the callbacks, which then belong to the caller, and why ends could not
  // be recorded, if so.
  [[nodiscard]] Callbacks take_callbacks() noexcept REQUIRES(mutex) {
    return std::exchange(callbacks_, {});
  }
  [[nodiscard]] std::exception_ptr stop_error() const REQUIRES(mutex) {
    return engine_.stop_error();
  }

 private:
  // One transaction carries few starts at first, so that the first of a million starts soon; then
  // twice as many each time, which spreads the cost of reaching the disk.
  static constexpr std::size_t starts_per_step_first = 256;
  static constexpr std::size_t starts_per_step_max = 4096;

  // How many ended runs, with their callbacks, wait to be destroyed at most.
  static constexpr std::size_t ended_max = 4096;

  Calls::News take_calls() REQUIRES(mutex);
  Next step_once(Workers& workers) REQUIRES(mutex);
  bool take_ends(Instant now) REQUIRES(mutex);
  void dispatch(Workers& workers) REQUIRES(mutex);
  std::shared_ptr<ActiveRun> make_run(Start& start) REQUIRES(mutex);
  void set_alarm() REQUIRES(mutex);

  Clock& clock_;
  Calls& calls_;
  TraceSink& trace_ GUARDED_BY(mutex);
  const std::shared_ptr<Mailbox> mailbox_;
  Engine engine_ GUARDED_BY(mutex);
  Callbacks callbacks_ GUARDED_BY(mutex);  // by TaskConfig::registration
  RunsInProgress runs_ GUARDED_BY(mutex);
  FreezeDetector freezes_ GUARDED_BY(mutex);
  Queue<ActiveRun> unrecorded_ GUARDED_BY(mutex);      // out of the mailbox, unknown to the engine
  Queue<ActiveRun> ended_ GUARDED_BY(mutex);           // deferred: known to the engine
  Queue<ActiveRun> prompt_ GUARDED_BY(mutex);          // deferred
  std::vector<Start> undispatched_ GUARDED_BY(mutex);  // durable, the next one last
  bool is_held_ GUARDED_BY(mutex) = false;             // an initialize() must end first (I5)
  bool is_stop_requested_ GUARDED_BY(mutex) = false;   // of every run, since stop() was called
  std::size_t starts_per_step_ GUARDED_BY(mutex) = starts_per_step_first;
};

}  // namespace dutiful
