// The threads of a scheduler: the loop, which steps the engine, and the workers it hands runs to.
#pragma once

#include <atomic>
#include <optional>
#include <thread>

#include <dutiful/scheduler.h>

#include "engine/reporter.h"
#include "posix/bell.h"
#include "runtime/calls.h"
#include "runtime/engine_driver.h"
#include "runtime/registrations.h"
#include "runtime/workers.h"
#include "sync/back_off.h"

namespace dutiful {

// The loop sleeps until something is due, has ended, or is asked of it; it never polls. If memory
// or threads run out, it reports that, waits, and tries again: what could not be done is still to
// be done (RULES X3).
class Loop {
 public:
  // All of them must outlive it.
  struct Surroundings {
    const void* scheduler;  // see UserCode
    Clock& clock;
    Calls& calls;
    Bell& wake_up;
    Reporter& reporter;
  };
  // `max_concurrent` is that of Options.
  Loop(Surroundings around, std::size_t max_concurrent);

  // Starts the thread, unless it runs. It waits for the mutex, and ends when it finds that the
  // engine has stopped, or was never initialized. Also starts a worker, if one of the callbacks
  // needs one: so whatever is durably started can be run. Throws ThreadError. The driver must
  // outlive join().
  void start(const Callbacks& callbacks, EngineDriver& driver) REQUIRES(driver.mutex);
  // Waits until the thread has ended. To be called once for each start of the thread.
  void join() { thread_.join(); }

  // Requires that start() was called.
  [[nodiscard]] Workers& workers() { return *workers_; }

  // Rings once, when the thread ends. It must still be there then.
  void ring_at_end(Bell& all_ended) noexcept { all_ended_ = &all_ended; }
  // Rings once, after the thread has done a step or has ended; nullptr: not any more. Returns
  // whether the thread runs. The bell must outlive the loop.
  bool ring_after_turn(Bell* turned) noexcept {
    turned_ = turned;
    return is_running_;
  }

 private:
  void run(EngineDriver& driver);
  void finish(EngineDriver& driver) noexcept;
  struct Step;
  [[nodiscard]] Step step(EngineDriver& driver);
  void sleep();
  int grow_workers();
  void call(std::shared_ptr<ActiveRun> run) noexcept;
  void ring_turned() noexcept;
  void report_exhausted(const char* error, Duration delay) noexcept;

  const void* scheduler_;
  Clock& clock_;
  Calls& calls_;
  Bell& wake_up_;
  Reporter& reporter_;
  const std::size_t workers_max_;

  // Only the loop uses these.
  BackOff memory_;
  BackOff threads_;
  bool have_threads_waited_ = false;

  std::atomic<Bell*> all_ended_ = nullptr;
  std::atomic<Bell*> turned_ = nullptr;
  std::atomic<bool> is_running_ = false;
  // The loop destroys it at its end; otherwise it is written only while no loop runs.
  std::optional<Workers> workers_;
  std::thread thread_;
};

}  // namespace dutiful
