// Shrinks a failing scenario.
#pragma once

#include <functional>

#include "sim/scenario.h"

namespace dutiful {

// Leaves out steps, tasks and runs, one at a time, as long as `fails` still holds. Requires that
// the given scenario fails.
[[nodiscard]] Scenario shrink(Scenario scenario, const std::function<bool(const Scenario&)>& fails);

}  // namespace dutiful
