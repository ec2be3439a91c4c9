// A clock that runs faster than real time, for tests with real processes.
#pragma once

#include <cstdint>

#include <sys/timerfd.h>
#include <unistd.h>

#include <dutiful/scheduler.h>

namespace dutiful {

// Shows `begin` at `begin`, then advances a minute every 200 ms. It is the same in every process
// with the same `begin`.
class FastClock : public Clock {
 public:
  static constexpr int speed = 300;

  explicit FastClock(Instant begin)
      : begin_(begin), descriptor_(timerfd_create(CLOCK_REALTIME, TFD_NONBLOCK | TFD_CLOEXEC)) {}
  ~FastClock() override { close(descriptor_); }
  FastClock(const FastClock&) = delete;
  FastClock& operator=(const FastClock&) = delete;

  [[nodiscard]] Instant now() const override {
    const auto real = std::chrono::system_clock::now();
    return std::chrono::floor<Duration>(begin_ + (real - begin_) * speed);
  }
  void set_alarm(Instant instant) override {
    itimerspec alarm{};
    if (instant != Instant::max()) {
      // At least a nanosecond after the epoch, because zero would disarm it.
      using std::chrono::nanoseconds;
      const Instant soon = std::max(instant, begin_);
      const auto real = begin_ + std::chrono::ceil<nanoseconds>(nanoseconds{soon - begin_} / speed);
      const auto since = nanoseconds{real.time_since_epoch()};
      alarm.it_value.tv_sec = since / std::chrono::seconds{1};
      alarm.it_value.tv_nsec = (since % std::chrono::seconds{1}).count() + 1;
    }
    timerfd_settime(descriptor_, TFD_TIMER_ABSTIME, &alarm, nullptr);
  }
  void take_alarm() override {
    std::uint64_t expirations = 0;
    [[maybe_unused]] const ssize_t size = read(descriptor_, &expirations, sizeof expirations);
  }
  [[nodiscard]] int descriptor() const override { return descriptor_; }

 private:
  Instant begin_;
  int descriptor_;
};

}  // namespace dutiful
