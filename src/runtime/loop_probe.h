// Finds out whether the loop of a scheduler still turns.
#pragma once

#include <dutiful/scheduler.h>

namespace dutiful {

// For a health check. Any thread may ask. Only one waits; another one that asks meanwhile gets the
// previous answer at once.
class LoopProbe {
 public:
  enum class Answer {
    turns,
    hangs,    // it did not turn in time: it waits for the disk, or for user code
    no_loop,  // the scheduler has no list, or an initialize() is in progress
  };

  // The scheduler must outlive it.
  explicit LoopProbe(const Scheduler& scheduler) : scheduler_(scheduler) {}

  // Wakes the loop, and waits until it has turned, but no longer than `patience`.
  [[nodiscard]] Answer ask(Duration patience) const;

 private:
  const Scheduler& scheduler_;
};

}  // namespace dutiful
