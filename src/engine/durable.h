// The durable state of a task, as a trace describes it.
#pragma once

#include <vector>

#include "core/plan.h"
#include "trace/in_flight.h"

namespace dutiful {

[[nodiscard]] DurableTask durable_task(const TaskConfig& config, const TaskProgress& progress);

}  // namespace dutiful
