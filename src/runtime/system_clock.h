// The host's wall clock. Its alarm also rings when the clock is set.
#pragma once

#include <dutiful/scheduler.h>

#include "posix/descriptor.h"

namespace dutiful {

class SystemClock : public Clock {
 public:
  SystemClock();

  [[nodiscard]] Instant now() const override;
  void set_alarm(Instant instant) override;
  void take_alarm() override;
  [[nodiscard]] int descriptor() const override { return timer_.get(); }

 private:
  Descriptor timer_;
};

// What the clock shows or, if it throws, the host's time: for an event that may be about that.
[[nodiscard]] Instant time_of_event(const Clock& clock) noexcept;

}  // namespace dutiful
