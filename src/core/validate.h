// Validates a list before anything is done with it (RULES I3).
#pragma once

#include <span>

#include "core/task.h"

namespace dutiful {

// Throws for the first invalid registration, in the order of the list.
void validate(std::span<const TaskConfig> list);

}  // namespace dutiful
