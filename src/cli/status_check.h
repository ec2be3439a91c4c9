// dutiful status --check: whether all is well.
#pragma once

#include <string>
#include <vector>

#include <dutiful/zone.h>

#include "daemon/task_status.h"

namespace dutiful {

struct Tolerance {
  bool failing = false;     // tasks may be failing
  bool overdue = false;     // tasks may be overdue, for any time
  Duration max_overdue{0};  // how long a task may be overdue
};

// "failing", "overdue", or both with a comma between them. Throws UsageError, which names the
// option.
void read_allowed(const char* option, const std::string& text, Tolerance& tolerance);

struct CheckResult {
  std::string reason{};  // what is wrong, on one line; empty if nothing is
  std::vector<std::string> failing{};
  std::vector<std::string> overdue{};

  [[nodiscard]] bool is_ok() const { return reason.empty(); }
};

// All is well if a daemon holds the state, and no task is failing or overdue beyond what is
// tolerated.
[[nodiscard]] CheckResult check_status(const StateStatus& status,
                                       const Tolerance& tolerance,
                                       const Zone& zone,
                                       Instant now);

}  // namespace dutiful
