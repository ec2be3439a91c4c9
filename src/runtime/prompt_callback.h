// A callback of the program's own, which only passes its run on.
#pragma once

#include <functional>

#include <dutiful/run.h>

namespace dutiful {

// The thread that starts runs calls it, not a worker, so any number of runs needs no thread. It
// must return at once, wait for nothing and call no scheduler. Users cannot make one: if it took
// its time, it would hold up every task.
struct PromptCallback {
  [[nodiscard]] static Callback make(std::function<void(Run)> function);
  [[nodiscard]] static bool is(const Callback& callback) noexcept;

 private:
  class Work;
};

}  // namespace dutiful
