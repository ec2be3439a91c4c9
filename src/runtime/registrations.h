// A list of registrations, split into what the engine decides by and what is called.
#pragma once

#include <vector>

#include <dutiful/scheduler.h>

#include "core/task.h"

namespace dutiful {

struct CallbackOf {
  Callback callback;
  Duration time_limit;
};
// Indexed by TaskConfig::registration.
using Callbacks = std::vector<CallbackOf>;

// Moves the callbacks of the list into `callbacks`, which must be empty, and returns the rest. If
// memory runs out, nothing is destroyed: what has not moved is still in the list.
[[nodiscard]] std::vector<TaskConfig> take_callbacks(std::vector<Registration>& registrations,
                                                     Callbacks& callbacks);

}  // namespace dutiful
