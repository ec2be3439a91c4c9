// The state of the tasks, as the trace speaks of it.
#pragma once

#include <vector>

#include "core/plan.h"
#include "trace/in_flight.h"

namespace dutiful {

[[nodiscard]] DurableTask durable_task(const TaskConfig& config, const TaskProgress& progress);

}  // namespace dutiful
