// Scenarios that nobody would think of.
#pragma once

#include <cstdint>

#include "sim/scenario.h"

namespace dutiful {

// The scenario of a seed: always the same for the same seed, on every machine. It lasts about as
// long as is asked for; what happens in it does so at instants where things meet: at pulses, a
// millisecond beside them, at the ends of runs, around the changes of the clocks.
[[nodiscard]] Scenario random_scenario(std::uint64_t seed, Duration length);

}  // namespace dutiful
