#include "sync/back_off.h"

#include <gtest/gtest.h>

namespace dutiful {
namespace {

using namespace std::chrono_literals;

TEST(BackOff, doubles_the_delay_with_each_failure_up_to_thirty_seconds) {
  BackOff back_off;
  for (const auto delay : {100ms, 200ms, 400ms, 800ms, 1600ms, 3200ms, 6400ms, 12800ms, 25600ms}) {
    EXPECT_EQ(back_off.fail(), delay);
  }
  EXPECT_EQ(back_off.fail(), 30s);
  EXPECT_EQ(back_off.fail(), 30s);
  EXPECT_EQ(back_off.delay(), 30s);
}

TEST(BackOff, waits_only_after_a_failure_and_begins_again_after_a_success) {
  BackOff back_off;
  EXPECT_FALSE(back_off.waits());
  back_off.fail();
  back_off.fail();
  EXPECT_TRUE(back_off.waits());
  back_off.succeed();
  EXPECT_FALSE(back_off.waits());
  EXPECT_EQ(back_off.fail(), 100ms);
}

}  // namespace
}  // namespace dutiful
