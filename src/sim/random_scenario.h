// Random scenarios, including those that no one would think of.
#pragma once

#include <cstdint>

#include "sim/scenario.h"

namespace dutiful {

// The scenario of a seed is the same on every machine. It lasts about as long as asked for. Its
// steps are placed where things coincide: at pulses, a millisecond before and after them, at the
// ends of runs, around changes of the clocks.
[[nodiscard]] Scenario random_scenario(std::uint64_t seed, Duration length);

}  // namespace dutiful
