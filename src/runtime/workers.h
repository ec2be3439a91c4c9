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

// As many threads as the work needs, up to a bound. Quick callbacks share few; where work waits,
// the number doubles each time that grow() is called. A thread that has had nothing to do for a
// while ends, but never the last one: once there is one, whatever is added will be done, even where
// the host gives no more threads (RULES X3).
class Workers {
 public:
  // What is done with each run, once, by some thread; must not throw. It is given the last that the
  // workers have of the run, because what a user gave us may do anything when it is destroyed.
  using Work = std::function<void(std::shared_ptr<ActiveRun>)>;

  // There is no thread yet.
  Workers(std::size_t threads_max, Work work, Duration idle_max = std::chrono::seconds{10});
  // Waits for the work that is under way, and drops what has not begun.
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  // Starts the first thread, if there is none. Throws std::system_error if the host gives none.
  void start_first();

  // Requires that there is a thread.
  void add(Queue<ActiveRun> runs) noexcept;

  // Starts more threads if there is work that no thread has taken up.
  enum class Growth {
    enough,  // nothing waits that more threads could do
    wanted,  // something still may: ask again
    failed,  // something does, and the host gives no thread; those that there are will do it
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
  // Says how many it has started.
  std::size_t start_threads(std::size_t count) noexcept REQUIRES(mutex_);
  void work(Worker& self);
  // Waits until it is called. False if that did not happen for so long that it should end.
  bool wait_for_work(Worker& self, Lock& lock) REQUIRES(mutex_);
  // Takes it out of the count. Returns the thread that ended before it, if any.
  std::thread retire(Worker& self) REQUIRES(mutex_);

  const std::size_t threads_max_;
  const Work work_;
  const Duration idle_max_;
  Mutex mutex_;
  Queue<ActiveRun> runs_ GUARDED_BY(mutex_);
  std::list<Worker> workers_ GUARDED_BY(mutex_);
  // The one that worked last is called first, so that the others have time to end. Has room for all
  // of workers_.
  std::vector<Worker*> idle_ GUARDED_BY(mutex_);
  std::size_t waking_ GUARDED_BY(mutex_) = 0;  // called, but not yet awake
  // The last thread to end, which the next one joins: there is never more than one to be joined.
  std::thread ended_ GUARDED_BY(mutex_);
  bool ending_ GUARDED_BY(mutex_) = false;
};

}  // namespace dutiful
