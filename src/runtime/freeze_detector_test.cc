#include "runtime/freeze_detector.h"

#include <gtest/gtest.h>

#include "support/times.h"

namespace dutiful {
namespace {

using namespace std::chrono_literals;

const Instant noon = at("2025-03-03T12:00:00Z");

TEST(FreezeDetector, finds_none_if_the_loop_is_woken_in_time) {
  FreezeDetector freezes;
  EXPECT_FALSE(freezes.wake(noon));  // no alarm
  freezes.set_alarm(noon + 1min, noon);
  for (const Duration later : {0s, 30s, 60s, 61s}) EXPECT_FALSE(freezes.wake(noon + later));
}

// H6
TEST(FreezeDetector, reports_a_late_wake_up_once_from_the_alarm_on) {
  FreezeDetector freezes;
  freezes.set_alarm(noon + 1min, noon);
  EXPECT_FALSE(freezes.wake(noon + 59s));  // something else wakes the loop before

  const auto freeze = freezes.wake(noon + 1h);
  ASSERT_TRUE(freeze);
  EXPECT_EQ(freeze->at, noon + 1min);
  EXPECT_EQ(std::get<Freeze>(freeze->event).until, noon + 1h);
  EXPECT_FALSE(freezes.wake(noon + 2h));

  freezes.set_alarm(noon + 3h, noon + 2h);
  EXPECT_TRUE(freezes.wake(noon + 4h));
}

TEST(FreezeDetector, takes_no_alarm_that_was_due_when_it_was_set_for_a_freeze) {
  FreezeDetector freezes;
  freezes.set_alarm(noon, noon);
  EXPECT_FALSE(freezes.wake(noon + 1h));
  freezes.set_alarm(noon - 1h, noon);
  EXPECT_FALSE(freezes.wake(noon + 1h));
}

TEST(FreezeDetector, ignores_a_clock_outside_its_range) {
  FreezeDetector freezes;
  freezes.set_alarm(noon + 1min, noon);
  EXPECT_FALSE(freezes.wake(Instant::max()));
  EXPECT_FALSE(freezes.wake(Instant::min()));
  EXPECT_TRUE(freezes.wake(noon + 1h));
}

}  // namespace
}  // namespace dutiful
