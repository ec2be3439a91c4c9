// What a list must be before anything is done with it (RULES I3).
#pragma once

#include <span>

#include "core/task.h"

namespace dutiful {

// Throws for the first registration, in order, that is not acceptable.
void validate(std::span<const TaskConfig> list);

}  // namespace dutiful
