#include "theory/compute.h"

#include <gtest/gtest.h>

#include "support/times.h"

namespace dutiful::theory {
namespace {

using namespace std::chrono_literals;

const Instant noon = at("2025-03-03T12:00:00Z");

TEST(ComputeClock, grants_a_unit_for_every_microsecond) {
  ComputeClock clock;
  clock.advance(noon);
  EXPECT_EQ(clock.granted(), 0us);
  clock.advance(noon + 5ms);
  EXPECT_EQ(clock.granted(), 5000us);
  EXPECT_EQ(clock.usable_since(noon, 0us), 5000us);
}

TEST(ComputeClock, grants_nothing_while_it_is_frozen) {
  ComputeClock clock;
  clock.advance(noon);
  clock.freeze(noon + 10s);
  EXPECT_TRUE(clock.frozen());
  clock.advance(noon + 4s);
  EXPECT_EQ(clock.granted(), 0us);
  clock.freeze(noon + 6s);  // a shorter freeze changes nothing
  clock.advance(noon + 11s);
  EXPECT_FALSE(clock.frozen());
  EXPECT_EQ(clock.granted(), 1s);
}

// RULES H10
TEST(ComputeClock, stops_the_time_of_L1_while_the_limit_of_runs_is_reached) {
  ComputeClock clock;
  clock.advance(noon);
  clock.set_saturated(true);
  clock.advance(noon + 3s);
  clock.set_saturated(false);
  clock.advance(noon + 4s);
  EXPECT_EQ(clock.granted(), 4s);
  EXPECT_EQ(clock.usable_since(noon, 0us), 1s);
  EXPECT_EQ(clock.usable_since(noon + 2s, 2s), 1s);
  EXPECT_EQ(clock.usable_since(noon + 3500ms, 3500ms), 500ms);
}

// RULES H10
TEST(ComputeClock, resumes_the_time_of_L1_when_a_callback_returns) {
  ComputeClock clock;
  clock.advance(noon);
  clock.set_saturated(true);
  clock.advance(noon + 3s);
  clock.set_saturated(false);
  clock.advance(noon + 4s);
  clock.set_saturated(true);
  clock.advance(noon + 10s);
  clock.saturation().forget_after(noon + 5s);  // which is only known now
  EXPECT_EQ(clock.usable_since(noon, 0us), 6s);
  clock.saturation().forget_after(noon + 2s);
  EXPECT_EQ(clock.usable_since(noon, 0us), 8s);
  EXPECT_EQ(clock.usable_since(noon + 9s, 9s), 1s);
}

TEST(Saturation, keeps_its_sum_but_not_its_whole_past) {
  Saturation saturation;
  constexpr int stretches = 200'000;
  for (int i = 0; i < stretches; ++i) {
    saturation.add(noon + i * 3ms, noon + i * 3ms + 1ms);
  }
  EXPECT_EQ(saturation.since(noon), stretches * 1ms);
  EXPECT_EQ(saturation.since(noon + (stretches - 10) * 3ms), 10ms);

  saturation.forget_before(noon + (stretches - 5) * 3ms);
  EXPECT_EQ(saturation.since(noon), 5ms);
}

// RULES H6
TEST(Witnesses, allow_a_time_linear_in_the_list_plus_the_lag) {
  const Witnesses witnesses{.a = 2, .b = 1s, .lag = 60s};
  EXPECT_EQ(witnesses.budget(0), 61s);
  EXPECT_EQ(witnesses.budget(1'000'000), 63s);
}

}  // namespace
}  // namespace dutiful::theory
