// Makes a scenario that fails smaller.
#pragma once

#include <functional>

#include "sim/scenario.h"

namespace dutiful {

// The smallest scenario that can be had by leaving out steps, tasks and runs, one at a time, as
// long as `fails` says so of it. Requires that it fails as it is.
[[nodiscard]] Scenario shrink(Scenario scenario, const std::function<bool(const Scenario&)>& fails);

}  // namespace dutiful
