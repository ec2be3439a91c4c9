// How much of the past the history keeps.
#pragma once

#include <chrono>
#include <cstddef>

#include <dutiful/time.h>

namespace dutiful {

// A run is kept if it is among the newest of its task or young enough; its output only if it is
// among the newest.
struct Retention {
  std::size_t runs = 100;               // of each task
  Duration age = std::chrono::days{7};  // since its end; zero: only the number counts
  std::size_t output_runs = 100;        // of each task
  std::size_t output_bytes = 8192;      // of each run, the last ones

  [[nodiscard]] bool keeps_nothing() const { return runs == 0 && age == Duration::zero(); }
};

}  // namespace dutiful
