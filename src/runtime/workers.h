// The threads that callbacks run on.
#pragma once

#include <functional>
#include <thread>
#include <vector>

#include "runtime/active_run.h"
#include "sync/mutex.h"

namespace dutiful {

// As many threads as the work needs, up to a bound. Quick callbacks share few; where work waits,
// the number doubles each time that grow() is called.
class Workers {
 public:
  // What is done with each run, once, by some thread; must not throw.
  using Work = std::function<void(ActiveRun&)>;

  Workers(std::size_t threads_max, Work work);
  // Waits for the work that is under way, and drops what has not begun.
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  void add(Queue<ActiveRun> runs) noexcept;

  // Starts more threads if there is work that no thread has taken up.
  enum class Growth {
    enough,  // nothing waits that more threads could do
    wanted,  // something still may: ask again
    failed,  // something does, and the host gives no thread; what waits is kept (RULES X3)
  };
  Growth grow() noexcept;

 private:
  void work();
  // Says how many it has started.
  std::size_t start_threads(std::size_t count) noexcept REQUIRES(mutex_);

  const std::size_t threads_max_;
  const Work work_;
  Mutex mutex_;
  Condition changed_;
  Queue<ActiveRun> runs_ GUARDED_BY(mutex_);
  std::vector<std::thread> threads_ GUARDED_BY(mutex_);
  std::size_t idle_ GUARDED_BY(mutex_) = 0;
  bool ending_ GUARDED_BY(mutex_) = false;
};

}  // namespace dutiful
