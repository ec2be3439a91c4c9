// A stop() in two parts, for a thread that has other work while runs end.
#pragma once

#include <cstdint>

#include <dutiful/scheduler.h>

#include "posix/bell.h"

namespace dutiful {

class PendingStop {
 public:
  // Enters stop() and returns at once. Nothing starts after this. The bell rings when finish() will
  // not have to wait. The scheduler must have a list, and both must outlive finish(). Throws
  // StopSchedulerError if memory runs out.
  PendingStop(Scheduler& scheduler, Bell& all_ended);
  // Returns and throws as stop() does. Call it once.
  void finish();

 private:
  Scheduler& scheduler_;
  std::uint64_t call_;
};

}  // namespace dutiful
