// Every simulated world of a few steps.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/policies.h"
#include "theory/verdict.h"

namespace dutiful {

struct Exhaustive {
  int tasks = 1;  // 1 or 2
  Policies policies{};
  int depth_max = 1000;

  // Called from time to time with the depth being searched and the number of states found; returns
  // whether to continue.
  std::function<bool(int depth, std::size_t states)> proceed = [](int, std::size_t) {
    return true;
  };
};

struct Exhausted {
  int depth = 0;                              // every sequence of this many steps was tried
  std::size_t states = 0;                     // different ones
  std::size_t steps = 0;                      // tried from these states
  std::vector<std::string> counterexample{};  // the steps that lead to the violation
  std::optional<theory::Violation> violation{};
};

// Tries every sequence of {time passes; a run succeeds; a run fails; crash; stop; initialize with
// the same list, another list, no list; the next transaction fails, the process dies before it, or
// dies after it}, the shortest first, and judges each by the theory. A state met before is not
// explored again.
[[nodiscard]] Exhausted search(const Exhaustive& options);

}  // namespace dutiful
