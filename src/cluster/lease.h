// How long a member may run and record things (RULES N3).
#pragma once

#include <algorithm>

#include "cluster/boot_time.h"

namespace dutiful::cluster {

inline constexpr Duration lease_default = std::chrono::seconds{10};
inline constexpr Duration lease_min = std::chrono::seconds{2};
inline constexpr Duration lease_max = std::chrono::minutes{10};

// A lease as its own member counts it: from before a renewal was sent, less the drift of clocks and
// a margin. The others count a whole lease from when they saw the renewal, so it ends here first.
class Lease {
 public:
  explicit Lease(Duration length) : length_(length) {}

  // A renewal that was sent then has been acknowledged.
  void renew(BootTime sent) {
    until_ = std::max(until_, sent + length_ - drift_of(length_) - margin);
  }
  void end() { until_ = BootTime::min(); }

  [[nodiscard]] bool holds(BootTime now) const { return now < until_; }
  [[nodiscard]] BootTime until() const { return until_; }
  [[nodiscard]] Duration length() const { return length_; }

  // Between renewals. A member that dies right after a renewal is noticed this much later than one
  // that dies right before the next, and is to be replaced within two seconds of its lease (N6).
  [[nodiscard]] Duration interval() const {
    return std::min<Duration>(length_ / 6, std::chrono::milliseconds{1500});
  }

 private:
  static constexpr Duration margin{20};

  Duration length_;
  BootTime until_ = BootTime::min();
};

}  // namespace dutiful::cluster
