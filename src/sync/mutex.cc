#include "sync/mutex.h"

namespace dutiful {

void Condition::wait(Lock& lock) {
  condition_.wait(lock.lock_);
}

bool Condition::wait_until(Lock& lock, std::chrono::steady_clock::time_point deadline) {
  return condition_.wait_until(lock.lock_, deadline) == std::cv_status::no_timeout;
}

}  // namespace dutiful
