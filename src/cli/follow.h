// Waiting for more to show, until the user has seen enough.
#pragma once

#include "posix/descriptor.h"

namespace dutiful {

// For one thread. SIGINT and SIGTERM no longer kill the process; they end the waiting.
class Follow {
 public:
  // Throws std::system_error.
  Follow();

  // Waits a moment. Returns false if SIGINT or SIGTERM arrived, or if nobody reads the standard
  // output any more.
  [[nodiscard]] bool wait() const;

 private:
  Descriptor signals_;
};

}  // namespace dutiful
