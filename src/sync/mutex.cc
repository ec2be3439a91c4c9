#include "sync/mutex.h"

namespace dutiful {

void Condition::wait(Lock& lock) {
  condition_.wait(lock.lock_);
}

bool Condition::wait_until(Lock& lock, std::chrono::system_clock::time_point until) {
  return condition_.wait_until(lock.lock_, until) == std::cv_status::no_timeout;
}

}  // namespace dutiful
