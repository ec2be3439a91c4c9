// The parts of a scheduler that its options choose.
#pragma once

#include <memory>

#include <dutiful/scheduler.h>

#include "core/policies.h"
#include "engine/engine.h"

namespace dutiful {

// The host's zone unless the options have one. Throws ZoneError.
[[nodiscard]] Calendar calendar_of(const Options& options);

[[nodiscard]] Policies policies_of(const Options& options);

// The system's clock unless the options have one.
[[nodiscard]] std::shared_ptr<Clock> clock_of(const Options& options);

// An SQLite file, or memory that lives as long as the function.
[[nodiscard]] Engine::OpenStore store_opener_of(const Options& options);

// The sink of the options, which any number of threads may then call: they wait for each other.
// Empty if the options have none.
[[nodiscard]] TypedSink synchronized_sink_of(const Options& options);

}  // namespace dutiful
