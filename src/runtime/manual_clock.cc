#include <algorithm>
#include <cerrno>
#include <system_error>

#include <sys/eventfd.h>
#include <unistd.h>

#include <dutiful/testing.h>

namespace dutiful {

ManualClock::ManualClock(Instant now)
    : descriptor_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)), now_(now) {
  if (descriptor_ < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
}

ManualClock::~ManualClock() {
  close(descriptor_);
}

void ManualClock::set(Instant now) {
  std::unique_lock lock{mutex_};
  const bool back = now < now_;
  now_ = now;
  if (alarm_ > now && !back) return;
  const std::uint64_t before = alarms_;
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t size = write(descriptor_, &one, sizeof one);
  // Without an alarm there is nobody to wait for.
  if (alarm_ == Instant::max()) return;
  // An alarm that is due already was set by a step that had not seen the new time.
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
  if (instant != Instant::max() && instant <= now_) {
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t size = write(descriptor_, &one, sizeof one);
  }
}

void ManualClock::take_alarm() {
  std::uint64_t rings = 0;
  [[maybe_unused]] const ssize_t size = read(descriptor_, &rings, sizeof rings);
}

}  // namespace dutiful
