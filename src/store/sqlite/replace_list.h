// Replacing the list of tasks in a state. All of it happens inside a transaction of the caller.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/plan.h"

namespace dutiful {

class Database;

// Returns the number of the new scheduler. The fence is the newest one that any run has had.
[[nodiscard]] std::int64_t add_scheduler(const Database& database,
                                         const std::string& identifier,
                                         std::uint64_t fence);

void remove_tasks(const Database& database, const std::vector<TaskRecord>& removed);

// Writes the tasks of the plan, in the name of that scheduler, and returns the row of each in the
// order of the plan. The progress of a task that already has a row is written by `write_progress`.
using WriteProgress = std::function<void(const PlannedTask& task)>;
[[nodiscard]] std::vector<std::int64_t> write_tasks(const Database& database,
                                                    const Plan& plan,
                                                    std::int64_t scheduler,
                                                    const WriteProgress& write_progress);

// Removes the schedulers that no record names any more, and adds `scheduler` to `named`. `named`
// holds all that records name, and may hold some that they no longer name; those are kept. If it is
// unknown or long, every record is read to find out.
void forget_schedulers(const Database& database,
                       std::int64_t scheduler,
                       std::optional<std::set<std::int64_t>>& named);

}  // namespace dutiful
