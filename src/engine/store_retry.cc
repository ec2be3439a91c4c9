#include "engine/store_retry.h"

#include <algorithm>

namespace dutiful {

void StoreRetry::fail(Waiting waiting, Instant now) {
  const Duration longest = waiting == Waiting::nothing ? delay_max : delay_max_stopping;
  delay_ = std::clamp(2 * delay_, delay_first, longest);
  at_ = now + delay_;
  if (waiting != Waiting::stop) return;
  if (stop_tries_++ == 0) stop_tried_first_ = now;
  gives_up_stop_ = stop_tries_ >= stop_tries_max || now - stop_tried_first_ >= stop_time_max;
}

void StoreRetry::hurry() {
  delay_ = Duration::zero();
  at_ = no_instant;
}

}  // namespace dutiful
