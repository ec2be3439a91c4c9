// The threads that callbacks run on.
#pragma once

#include <functional>
#include <list>
#include <thread>
#include <vector>

#include <dutiful/time.h>

#include "runtime/active_run.h"
#include "sync/mutex.h"

namespace dutiful {

// As many threads as the work needs, up to a bound. Quick callbacks share few threads. While work
// waits, each call of grow() about doubles their number. A thread that has been idle for a while
// ends, but never the last one. So once there is a thread, all work that is added gets done, even
// if the host cannot start more threads (RULES X3).
class Workers {
 public:
  // Called once for each run, by some thread; must not throw. It receives the last reference that
  // the workers hold, because user code may do anything when it is destroyed.
  using Work = std::function<void(std::shared_ptr<ActiveRun>)>;

  // Starts no thread yet.
  Workers(std::size_t threads_max, Work work, Duration idle_max = std::chrono::seconds{10});
  // Waits for the work in progress, and drops the rest.
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  // Starts the first thread, if there is none. Throws std::system_error if the host cannot.
  void start_first();

  // Requires that there is a thread.
  void add(Queue<ActiveRun> runs) noexcept;

  // Starts more threads if work waits.
  enum class Growth {
    enough,  // no work waits, or the bound is reached
    wanted,  // work may still wait: call again
    failed,  // work waits and the host cannot start a thread; the existing threads will do it
  };
  Growth grow() noexcept;

 private:
  friend struct WorkersInTest;

  struct Worker {
    Condition called;
    bool is_called = true;  // false while it is in idle_
    std::thread thread;
  };

  void start_thread() REQUIRES(mutex_);
  // Returns how many it has started.
  std::size_t start_threads(std::size_t count) noexcept REQUIRES(mutex_);
  void work(Worker& self);
  // Waits until it is called. Returns false if it was idle for so long that it should end.
  bool wait_for_work(Worker& self, Lock& lock) REQUIRES(mutex_);
  // Removes it. Returns the thread that ended before it, if any, to be joined.
  std::thread retire(Worker& self) REQUIRES(mutex_);

  const std::size_t threads_max_;
  const Work work_;
  const Duration idle_max_;
  Mutex mutex_;
  Queue<ActiveRun> runs_ GUARDED_BY(mutex_);
  std::list<Worker> workers_ GUARDED_BY(mutex_);
  // The thread that worked last is called first, so that the others can end. Has capacity for all
  // of workers_.
  std::vector<Worker*> idle_ GUARDED_BY(mutex_);
  std::size_t waking_ GUARDED_BY(mutex_) = 0;  // called, but not yet awake
  // The thread that ended last. The next one joins it, so there is never more than one to join.
  std::thread ended_ GUARDED_BY(mutex_);
  bool ending_ GUARDED_BY(mutex_) = false;
};

}  // namespace dutiful
