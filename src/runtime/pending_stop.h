// A stop() in two parts, for a thread that has other things to do while runs end.
#pragma once

#include <cstdint>

#include <dutiful/scheduler.h>

#include "posix/bell.h"

namespace dutiful {

class PendingStop {
 public:
  // Enters stop() and does not wait: from here on nothing starts. Rings when finish() has nothing
  // left to wait for. The scheduler must have a list; both must outlive finish().
  // Throws StopSchedulerError if memory runs out.
  PendingStop(Scheduler& scheduler, Bell& all_ended);
  // Returns, and throws, as stop() does. To be called once.
  void finish();

 private:
  Scheduler& scheduler_;
  std::uint64_t call_;
};

}  // namespace dutiful
