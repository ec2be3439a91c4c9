#include "sync/try_again.h"

#include <poll.h>

namespace dutiful {

void wait_a_moment() {
  constexpr int moment_ms = 10;
  (void)poll(nullptr, 0, moment_ms);
}

}  // namespace dutiful
