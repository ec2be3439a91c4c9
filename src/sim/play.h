// Plays a scenario.
#pragma once

#include <memory>

#include "sim/scenario.h"
#include "store/memory/memory_store.h"
#include "trace/event.h"

namespace dutiful {

// Sends what is observed to the trace. Time is exact: a task starts at the instant its obligation
// arises. At one instant, callbacks end first, in the order of their starts; then the steps happen;
// then tasks start. The same scenario always gives the same trace, byte for byte.
//
// Returns the state that is left at the end. Throws MalformedScenario if virtual time would stand
// still: a task that always fails at once and is retried at once.
std::shared_ptr<const MemoryState> play(const Scenario& scenario, TraceSink& trace);

}  // namespace dutiful
