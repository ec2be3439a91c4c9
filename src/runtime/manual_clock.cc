#include <algorithm>

#include <dutiful/testing.h>

#include "posix/bell.h"

namespace dutiful {

ManualClock::ManualClock(Instant now) : bell_(std::make_unique<Bell>()), now_(now) {}
ManualClock::~ManualClock() = default;

int ManualClock::descriptor() const {
  return bell_->descriptor();
}

void ManualClock::set(Instant now) {
  std::unique_lock lock{mutex_};
  const bool back = now < now_;
  now_ = now;
  if (alarm_ > now && !back) return;
  const std::uint64_t before = alarms_;
  bell_->ring();
  // Without an alarm, no scheduler runs that could notice.
  if (alarm_ == Instant::max()) return;
  // An alarm that is already due was set by a step that had not seen the new time.
  alarm_set_.wait(lock,
                  [&] { return alarms_ != before && (alarm_ > now_ || alarm_ == Instant::max()); });
}

void ManualClock::advance(Duration duration) {
  {
    const std::lock_guard lock{mutex_};
    monotonic_ += std::max(duration, Duration::zero());
  }
  set(now() + duration);
}

Duration ManualClock::monotonic() const {
  const std::lock_guard lock{mutex_};
  return monotonic_;
}

Instant ManualClock::now() const {
  const std::lock_guard lock{mutex_};
  return now_;
}

void ManualClock::set_alarm(Instant instant) {
  const std::lock_guard lock{mutex_};
  alarm_ = instant;
  ++alarms_;
  alarm_set_.notify_all();
  if (instant != Instant::max() && instant <= now_) bell_->ring();
}

void ManualClock::take_alarm() {
  bell_->take();
}

}  // namespace dutiful
