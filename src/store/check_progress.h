// Whether a scheduler can have written this progress.
#pragma once

#include "core/task.h"

namespace dutiful {

// Throws a TaskTryDeserializeError if no clock shows the instant.
void check_instant(Instant instant, const char* field, const std::string& task);

// Throws a TaskTryDeserializeError about the field that contradicts the others (RULES P7).
void check_progress(const TaskProgress& progress, const std::string& task);

}  // namespace dutiful
