// The account of a task: what became of every one of its pulses.
#pragma once

#include <cstdint>
#include <vector>

#include "account/fates.h"
#include "time/no_instant.h"

namespace dutiful {

// The sums of the newest stretch of time, which is open: it ends where the pulses that have been
// served end. A stretch is one civil day, the rest of the day on which the account begins, or all
// the days that a longer pause skipped.
//
// A start serves pulses, and its transaction also records their fates. So the account of a task
// always covers exactly the pulses up to its TaskProgress::served_until.
struct Account {
  Instant from = no_instant;  // the stretch begins here; no_instant: the account has not begun
  std::int64_t number = 0;    // of the stretch, from 0
  PulseFates fates{};
  // Pulses that count a second time, because the clock was set back to before them (RULES T7).
  std::int64_t recurred = 0;

  friend bool operator==(const Account&, const Account&) = default;
};

// A stretch that has ended. It holds the fates of the pulses in [sums.from, until).
struct AccountStretch {
  Account sums;
  Instant until;

  friend bool operator==(const AccountStretch&, const AccountStretch&) = default;
};

// Stretches that a state keeps of each task: more than a year of days.
inline constexpr std::int64_t stretches_kept = 400;

}  // namespace dutiful
