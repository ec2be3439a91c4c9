// Wakes a thread that waits in poll().
#pragma once

#include "posix/descriptor.h"

namespace dutiful {

class Bell {
 public:
  // Throws std::system_error if there is no descriptor left.
  Bell();

  // From any thread, also from one that has no memory left: makes the descriptor readable until
  // the rings are taken.
  void ring() noexcept;
  // Takes all rings; does nothing if there are none.
  void take() noexcept;
  [[nodiscard]] int descriptor() const noexcept { return descriptor_.get(); }

 private:
  Descriptor descriptor_;
};

}  // namespace dutiful
