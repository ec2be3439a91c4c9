// Plans for the tests of stores.
#pragma once

#include <utility>
#include <vector>

#include "core/plan.h"

namespace dutiful {

template <typename... Tasks>
[[nodiscard]] Plan plan_of(std::vector<TaskRecord> removed, Tasks... tasks) {
  Plan plan;
  (plan.tasks.push_back(std::move(tasks)), ...);
  plan.removed = std::move(removed);
  return plan;
}

}  // namespace dutiful
