// When a daemon is known to have run.
#pragma once

#include <chrono>
#include <optional>

#include <dutiful/time.h>

#include "time/clock_range.h"

namespace dutiful {

// A stretch of time in which a daemon ran. It may have run longer than it was seen.
struct Uptime {
  Instant started{};
  Instant seen{};  // the last instant at which it is known to have run; never before `started`

  friend bool operator==(const Uptime&, const Uptime&) = default;
};

// Follows the uptime of this daemon by the instants at which it looks at the clock. If the host was
// asleep or the clock was set, one stretch ends and another begins.
class UptimeFollower {
 public:
  // `looks_every`: the longest time between two looks while the daemon runs; none if it may not
  // look for days, so that a long time without a look says nothing.
  explicit UptimeFollower(std::optional<Duration> looks_every) {
    if (looks_every) silence_max_ = *looks_every * 5 / 2;
  }

  void begin(Instant started) noexcept {
    started = into_clock_range(started);
    current_ = {.started = started, .seen = started};
  }
  [[nodiscard]] bool is_begun() const noexcept { return current_.has_value(); }

  // The daemon runs now. Requires that it has begun.
  void look(Instant now) noexcept {
    now = into_clock_range(now);
    const bool slept = silence_max_ && now - current_->seen > *silence_max_;
    const bool was_set_back = current_->seen - now > set_back_max;
    if (slept || was_set_back) {
      ended_ = current_;
      begin(now);
    } else if (now > current_->seen) {
      current_->seen = now;
    }
  }

  // The newest stretch that has ended, until it is forgotten, and the one that has not.
  [[nodiscard]] const std::optional<Uptime>& ended() const noexcept { return ended_; }
  [[nodiscard]] const std::optional<Uptime>& current() const noexcept { return current_; }
  void forget_ended() noexcept { ended_.reset(); }

 private:
  // A clock that is corrected by less than this ends no stretch.
  static constexpr Duration set_back_max = std::chrono::seconds{150};

  std::optional<Duration> silence_max_;
  std::optional<Uptime> ended_;
  std::optional<Uptime> current_;
};

}  // namespace dutiful
