// The signals that an operator sends to the daemon, taken one by one by the thread that wants them.
#pragma once

#include <optional>

#include "posix/descriptor.h"

namespace dutiful {

// Lets SIGTERM, SIGINT and SIGHUP wait until there are Signals: one that comes while the daemon is
// made is for it, and does not end the process.
void hold_back_signals();

// Blocks SIGTERM, SIGINT, SIGHUP and SIGCHLD, in this thread and those that it starts: to be made
// before any of them.
class Signals {
 public:
  Signals();
  // The next of SIGTERM, SIGINT and SIGHUP that has come, if any.
  [[nodiscard]] std::optional<int> take();
  // Readable when there is one.
  [[nodiscard]] int descriptor() const { return descriptor_.get(); }

 private:
  Descriptor descriptor_;
};

}  // namespace dutiful
