// A list of registrations, split into what the engine decides by and what is called.
#pragma once

#include <utility>
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

[[nodiscard]] std::pair<std::vector<TaskConfig>, Callbacks> separate_callbacks(
    std::vector<Registration> registrations);

}  // namespace dutiful
