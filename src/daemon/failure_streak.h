// The failures of a task in a row, and the notifications that follow from them.
#pragma once

#include <cstdint>

#include "tasks/notifications.h"

namespace dutiful {

struct FailureStreak {
  std::uint32_t failures = 0;  // in a row
  bool is_notified = false;    // there were as many as notify_after asks for

  friend bool operator==(const FailureStreak&, const FailureStreak&) = default;
};

// A run of the task has failed. Returns whether to run on_failure. If notify_after has been changed
// since the first failure, the new value counts; a streak is still notified only once.
[[nodiscard]] inline bool add_failure(FailureStreak& streak, const Notifications& notifications) {
  if (streak.failures < notify_after_max) ++streak.failures;
  const bool was_notified = streak.is_notified;
  if (streak.failures >= notifications.after.value_or(1)) streak.is_notified = true;
  return streak.is_notified && !(was_notified && notifications.after);
}

}  // namespace dutiful
