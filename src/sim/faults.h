// A state that fails, and a process that dies at it.
#pragma once

#include <memory>

#include "sim/scenario.h"
#include "store/store.h"

namespace dutiful {

struct Faults {
  int failing_commits = 0;
  CrashIn crash_in = CrashIn::nothing;
  bool crashed = false;  // the process is dead; whatever its engine does now does not happen
};

// The store behind it, with those faults. What is written is written as a whole or not at all, so
// to die during a transaction is to die before or after it. The faults must outlive it.
[[nodiscard]] std::unique_ptr<Store> make_faulty(std::unique_ptr<Store> store, Faults& faults);

}  // namespace dutiful
