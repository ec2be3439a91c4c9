// Every world of a few steps.
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

  // Asked now and then, with the depth that is searched and the states that were found.
  std::function<bool(int depth, std::size_t states)> go_on = [](int, std::size_t) { return true; };
};

struct Exhausted {
  int depth = 0;                              // every sequence of so many steps was tried
  std::size_t states = 0;                     // that differ
  std::size_t steps = 0;                      // that were tried from them
  std::vector<std::string> counterexample{};  // the steps that lead to the violation
  std::optional<theory::Violation> violation{};
};

// Tries every sequence of {time passes, a run succeeds, a run fails, crash, stop, initialize with
// the same list, another one, none; the next transaction fails, dies before it, dies after it}, the
// shortest first, and judges each by the theory. A state that was met before is not gone on from.
[[nodiscard]] Exhausted search(const Exhaustive& options);

}  // namespace dutiful
