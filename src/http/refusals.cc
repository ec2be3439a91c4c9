#include "http/refusals.h"

namespace dutiful::http {

void Refusals::add(RefusedRequest refused, Time now) noexcept {
  // The mutex is held during the report, so that reports come one at a time.
  const Lock lock{mutex_};
  if (last_ && now - *last_ < interval_) {
    ++unreported_;
    return;
  }
  last_ = now;
  refused.unreported = std::exchange(unreported_, 0);
  try {
    if (report_) report_(refused);
  } catch (...) {  // best effort
    return;
  }
}

}  // namespace dutiful::http
