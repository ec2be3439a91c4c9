// The host's wall clock, with an alarm that notices when it is set.
#pragma once

#include <dutiful/scheduler.h>

namespace dutiful {

class SystemClock : public Clock {
 public:
  SystemClock();
  ~SystemClock() override;
  SystemClock(const SystemClock&) = delete;
  SystemClock& operator=(const SystemClock&) = delete;

  [[nodiscard]] Instant now() const override;
  void set_alarm(Instant instant) override;
  void take_alarm() override;
  [[nodiscard]] int descriptor() const override { return timer_; }

 private:
  int timer_;
};

}  // namespace dutiful
