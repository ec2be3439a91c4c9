// The durable state of the tasks.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <dutiful/errors.h>

#include "account/account.h"
#include "core/plan.h"

namespace dutiful {

// The new progress of one task.
struct RowUpdate {
  std::int64_t row;
  TaskProgress progress;
  const Account* account = nullptr;          // if that changes too
  std::span<const AccountStretch> closed{};  // stretches of the account that have ended
};

// One scheduler's hold on a state. No other scheduler has it (RULES P6) until this is destroyed.
//
// Every operation happens as a whole or throws and changes nothing (RULES P4). If the error is a
// StoreError that is in doubt, the change may still be found by the next process that opens the
// state, until another operation succeeds. A change is durable when the call returns (RULES P1).
// Not safe to share between threads.
class Store {
 public:
  virtual ~Store() = default;

  [[nodiscard]] virtual StoredState load() = 0;

  // Replaces the records and the fence with those of the plan, in the name of that scheduler (P5).
  // Returns the row of each task in the order of the plan.
  virtual std::vector<std::int64_t> replace(const Plan& plan, const std::string& scheduler) = 0;

  // Records the progress and the accounts of tasks. Writing the same twice is safe.
  virtual void commit(std::span<const RowUpdate> updates) = 0;
};

}  // namespace dutiful
