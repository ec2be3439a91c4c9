#include "sync/mutex.h"

namespace dutiful {

void Condition::wait(Lock& lock) {
  condition_.wait(lock.lock_);
}

bool Condition::wait_for(Lock& lock, std::chrono::milliseconds duration) {
  return condition_.wait_for(lock.lock_, duration) == std::cv_status::no_timeout;
}

}  // namespace dutiful
