// When to try a failed store again, and when to give up a stop that waits for it.
#pragma once

#include <dutiful/time.h>

#include "core/task.h"

namespace dutiful {

// Decides only; tries nothing. The next try follows a failure after the first delay, and each
// further failure doubles the delay.
class StoreRetry {
 public:
  static constexpr Duration delay_first{100};
  static constexpr Duration delay_max{30'000};
  static constexpr Duration delay_max_stopping{1'000};

  // A stop that waits only for the store is given up after this many tries, or after the first try
  // that begins this long after the first of them: a single try may take seconds if another process
  // holds a lock.
  static constexpr int stop_tries_max = 5;
  static constexpr Duration stop_time_max{4'000};

  // What waits for the store.
  enum class Waiting {
    nothing,         // the scheduler runs
    stop_with_runs,  // a stop, which also waits for runs
    stop,            // a stop, which waits for nothing else
  };

  // A transaction failed at `now`.
  void fail(Waiting waiting, Instant now);
  // A transaction succeeded, or the store is another.
  void reset() { *this = {}; }
  // A stop begins: somebody waits, so the store is tried at once, and soon again.
  void hurry();

  // The instant of the next try; no_instant: at any time.
  [[nodiscard]] Instant at() const { return at_; }
  // Whether it is too early for the next try. Never if the clock has been set back since.
  [[nodiscard]] bool must_wait(Instant now) const { return now < at_ && at_ - now <= delay_; }
  // Whether the stop that waits only for the store is to be given up.
  [[nodiscard]] bool gives_up_stop() const { return gives_up_stop_; }

 private:
  Duration delay_{};
  Instant at_ = no_instant;
  int stop_tries_ = 0;
  Instant stop_tried_first_ = no_instant;
  bool gives_up_stop_ = false;
};

}  // namespace dutiful
