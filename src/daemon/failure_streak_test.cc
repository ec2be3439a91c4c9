#include "daemon/failure_streak.h"

#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dutiful {
namespace {

using testing::ElementsAre;

// Which of so many failures in a row notify.
std::vector<bool> notified(int failures, const Notifications& notifications) {
  FailureStreak streak;
  std::vector<bool> out;
  for (int i = 0; i < failures; ++i) out.push_back(add_failure(streak, notifications));
  return out;
}

TEST(FailureStreak, notifies_of_every_failure) {
  EXPECT_THAT(notified(3, {}), ElementsAre(true, true, true));
}

TEST(FailureStreak, notifies_once_at_the_nth_failure) {
  EXPECT_THAT(notified(3, {.after = 1}), ElementsAre(true, false, false));
  EXPECT_THAT(notified(5, {.after = 3}), ElementsAre(false, false, true, false, false));
}

TEST(FailureStreak, follows_a_changed_number_and_still_notifies_once) {
  FailureStreak streak{.failures = 3};
  EXPECT_TRUE(add_failure(streak, {.after = 2}));   // lowered: now it is reached
  EXPECT_FALSE(add_failure(streak, {.after = 9}));  // raised: it has been notified
  EXPECT_FALSE(add_failure(streak, {.after = 2}));
  EXPECT_TRUE(add_failure(streak, {}));
}

TEST(FailureStreak, has_a_count_that_never_overflows) {
  FailureStreak streak{.failures = notify_after_max, .is_notified = true};
  EXPECT_TRUE(add_failure(streak, {}));
  EXPECT_EQ(streak.failures, notify_after_max);
}

}  // namespace
}  // namespace dutiful
