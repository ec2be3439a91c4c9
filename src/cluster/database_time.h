// The database's clock, as a member knows it between its answers (RULES N9).
#pragma once

#include <algorithm>
#include <optional>

#include "cluster/boot_time.h"

namespace dutiful::cluster {

// The database showed an instant some time between a request and its answer. From that follows an
// earliest time that its clock shows now, which is what a member takes for the time: never ahead of
// the database, so no pulse is early, and behind by the duration of the quickest answer and the
// drift since.
class DatabaseTime {
 public:
  void sync(Instant shown, BootTime sent, BootTime answered) {
    const Duration least = shown.time_since_epoch() - answered.time_since_epoch();
    const Duration most = shown.time_since_epoch() - sent.time_since_epoch();
    // What was known before may be more exact, unless the database's clock was set back.
    const Duration known = synced_ ? aged(answered) : least;
    ahead_ = known <= most ? std::max(known, least) : least;
    synced_ = answered;
  }

  // No time is known before the first answer.
  [[nodiscard]] std::optional<Instant> at(BootTime now) const {
    if (!synced_) return std::nullopt;
    return Instant{now.time_since_epoch() + aged(now)};
  }
  // The boot time by which at() has reached the instant.
  [[nodiscard]] BootTime when(Instant instant) const {
    if (!synced_ || instant == Instant::max()) return BootTime::max();
    const BootTime undrifted{instant.time_since_epoch() - ahead_};
    const Duration passes = undrifted - *synced_;
    if (passes <= Duration::zero()) return undrifted;
    return *synced_ + passes + drift_of(passes + drift_of(passes)) + Duration{1};
  }

 private:
  [[nodiscard]] Duration aged(BootTime now) const { return ahead_ - drift_of(now - *synced_); }

  Duration ahead_{};  // of the boot clock
  std::optional<BootTime> synced_;
};

}  // namespace dutiful::cluster
