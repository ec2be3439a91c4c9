// A store that fails, and a process that dies while using it.
#pragma once

#include <memory>

#include "sim/scenario.h"
#include "store/store.h"

namespace dutiful {

struct Faults {
  int failing_commits = 0;
  CrashIn crash_in = CrashIn::nothing;
  bool crashed = false;  // the process is dead, and its engine has no effect any more
};

// Adds these faults to a store. A transaction happens as a whole or not at all, so dying during a
// transaction means dying before or after it. The faults must outlive it.
[[nodiscard]] std::unique_ptr<Store> make_faulty(std::unique_ptr<Store> store, Faults& faults);

}  // namespace dutiful
