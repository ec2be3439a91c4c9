// Where the state of the tasks survives.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <dutiful/errors.h>

#include "core/plan.h"

namespace dutiful {

// The new progress of one task.
struct RowUpdate {
  std::int64_t row;
  TaskProgress progress;
};

// One scheduler's hold on a state. Whoever has one has it alone (RULES P6), until it is destroyed.
//
// Every operation happens as a whole or not at all, and throws where it does not (RULES P4). If the
// error is a StoreError that is in doubt, whoever opens the state next may find that it happened
// all the same, until another operation succeeds. What has happened is durable when the call
// returns (RULES P1). Not safe to share between threads.
class Store {
 public:
  virtual ~Store() = default;

  [[nodiscard]] virtual StoredState load() = 0;

  // Makes the records and the fence those of the plan, written by the scheduler of that identifier
  // (P5). Returns the row of each task of the plan, in its order.
  virtual std::vector<std::int64_t> replace(const Plan& plan, const std::string& scheduler) = 0;

  // Records how far tasks have come. Writing the same twice is safe.
  virtual void commit(std::span<const RowUpdate> updates) = 0;
};

}  // namespace dutiful
