// Whether a progress that was read from outside is one that a scheduler can have written.
#pragma once

#include "core/task.h"

namespace dutiful {

// Throws the TaskTryDeserializeError that says which field of the task contradicts the others
// (RULES P7).
void check_progress(const TaskProgress& progress, const std::string& task);

}  // namespace dutiful
