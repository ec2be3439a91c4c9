#include "runtime/system_clock.h"

#include <cerrno>
#include <system_error>

#include <sys/timerfd.h>

namespace dutiful {
namespace {

Instant host_time() {
  return std::chrono::floor<Duration>(std::chrono::system_clock::now());
}

}  // namespace

Duration Clock::monotonic() const {
  return std::chrono::floor<Duration>(std::chrono::steady_clock::now().time_since_epoch());
}

SystemClock::SystemClock() : timer_(timerfd_create(CLOCK_REALTIME, TFD_NONBLOCK | TFD_CLOEXEC)) {
  if (!timer_.is_open()) throw std::system_error(errno, std::generic_category(), "timerfd_create");
}

Instant SystemClock::now() const {
  return host_time();
}

void SystemClock::set_alarm(Instant instant) {
  using std::chrono::seconds;
  itimerspec spec{};
  if (instant != Instant::max()) {
    // An alarm in the past rings at once. Zero would remove it.
    const auto since = std::max(instant.time_since_epoch(), Duration{1});
    const auto whole = std::chrono::floor<seconds>(since);
    spec.it_value.tv_sec = whole.count();
    spec.it_value.tv_nsec = std::chrono::nanoseconds{since - whole}.count();
  }
  // The timer also rings when the clock is set, because other tasks may be due then. If the clock
  // was set since the last call, the kernel reports it here (ECANCELED), so the alarm must ring at
  // once.
  const int flags = TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET;
  int result = timerfd_settime(timer_.get(), flags, &spec, nullptr);
  if (result != 0 && errno == ECANCELED) {
    spec.it_value = {.tv_sec = 0, .tv_nsec = 1};
    result = timerfd_settime(timer_.get(), flags, &spec, nullptr);
  }
  if (result != 0 && errno != ECANCELED) {
    throw std::system_error(errno, std::generic_category(), "timerfd_settime");
  }
}

void SystemClock::take_alarm() {
  std::uint64_t rings = 0;
  [[maybe_unused]] const ssize_t size = read(timer_.get(), &rings, sizeof rings);
}

Instant time_of_event(const Clock& clock) noexcept {
  try {
    return clock.now();
  } catch (...) {
    return host_time();
  }
}

}  // namespace dutiful
