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
  struct World {
    const void* scheduler;  // see UserCode
    Clock& clock;
    Calls& calls;
    Bell& wake_up;
    Reporter& reporter;
  };
  // `max_concurrent` is that of Options.
  Loop(World world, std::size_t max_concurrent);

  // Starts the thread, unless it runs. It waits for the mutex, and ends when it finds that the
  // engine has stopped, or was never initialized. Also starts a worker, if one of the callbacks
  // needs one: so whatever is durably started can be run. Throws ThreadError. The driver must
  // outlive join().
  void start(const Callbacks& callbacks, EngineDriver& driver) REQUIRES(driver.mutex);
  // Waits until the thread has ended, and then ends the workers. To be called once for each start
  // of the thread.
  void join();

  // Requires that start() was called.
  [[nodiscard]] Workers& workers() { return *workers_; }

  // Rings once, when the thread ends. It must still be there then.
  void ring_at_end(Bell& all_ended) noexcept { all_ended_ = &all_ended; }

 private:
  void run(EngineDriver& driver);
  struct Step;
  [[nodiscard]] Step step(EngineDriver& driver);
  void sleep();
  int grow_workers();
  void call(std::shared_ptr<ActiveRun> run) noexcept;
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
  // Written only while no loop runs.
  std::optional<Workers> workers_;
  std::thread thread_;
};

}  // namespace dutiful
