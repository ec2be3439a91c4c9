// A list of registrations, taken apart: what the engine decides by, and what is called.
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
// By TaskConfig::registration.
using Callbacks = std::vector<CallbackOf>;

// Throws InvalidRegistrationError for a callback that is missing and a time limit that is negative,
// unless something else comes first in the list or in the registration, and then its error (RULES
// I3).
[[nodiscard]] std::pair<std::vector<TaskConfig>, Callbacks> split(
    std::vector<Registration> registrations);

}  // namespace dutiful
