// The signals that an operator sends to the daemon, taken one by one.
#pragma once

#include <optional>

#include "posix/descriptor.h"

namespace dutiful {

// Blocks SIGTERM, SIGINT and SIGHUP until a Signals object takes them: a signal that arrives while
// the daemon is being constructed is handled later and does not kill the process.
void block_operator_signals();

// Blocks SIGTERM, SIGINT, SIGHUP and SIGCHLD in this thread and the threads that it starts, so it
// must be constructed before any of them.
class Signals {
 public:
  Signals();
  // The next SIGTERM, SIGINT or SIGHUP that has arrived, if any.
  [[nodiscard]] std::optional<int> take();
  // Readable when a signal has arrived.
  [[nodiscard]] int descriptor() const { return descriptor_.get(); }

 private:
  Descriptor descriptor_;
};

}  // namespace dutiful
