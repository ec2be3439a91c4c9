// Plays a scenario.
#pragma once

#include "sim/scenario.h"
#include "trace/event.h"

namespace dutiful {

// Tells the trace what is observed. Time is exact: a start happens at the instant its obligation
// arises. At one instant callbacks end first, in the order in which they started; then the steps
// happen, then tasks start. The same scenario gives the same trace, to the byte.
//
// Throws MalformedScenario where virtual time would stand still: a task that fails at once for
// ever, and is retried at once.
void play(const Scenario& scenario, TraceSink& trace);

}  // namespace dutiful
