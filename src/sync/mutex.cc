#include "sync/mutex.h"

namespace dutiful {

void Condition::wait(Lock& lock) {
  condition_.wait(lock.lock_);
}

}  // namespace dutiful
