// Plays a scenario.
#pragma once

#include "sim/scenario.h"
#include "trace/event.h"

namespace dutiful {

// Sends what is observed to the trace. Time is exact: a task starts at the instant its obligation
// arises. At one instant, callbacks end first, in the order of their starts; then the steps happen;
// then tasks start. The same scenario always gives the same trace, byte for byte.
//
// Throws MalformedScenario if virtual time would stand still: a task that always fails at once and
// is retried at once.
void play(const Scenario& scenario, TraceSink& trace);

}  // namespace dutiful
