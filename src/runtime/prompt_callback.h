// A callback that only hands its run over to another thread. The program itself uses it for
// commands.
#pragma once

#include <functional>

#include <dutiful/run.h>

namespace dutiful {

// The loop calls it, not a worker, so that any number of long runs needs no thread. It must return
// at once, wait for nothing and call no scheduler. Users cannot make one, because a slow one would
// delay every task.
struct PromptCallback {
  [[nodiscard]] static Callback make(std::function<void(Run)> function);
  [[nodiscard]] static bool is(const Callback& callback) noexcept;

 private:
  class Work;
};

}  // namespace dutiful
