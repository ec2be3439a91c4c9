// Observation must not disturb what is observed.
#pragma once

namespace dutiful {

// Traces or reports something. If that fails, for example for lack of memory, the report is lost,
// and what it is about is not.
template <typename Report>
void best_effort(Report report) noexcept {
  try {
    report();
  } catch (...) {
  }
}

}  // namespace dutiful
