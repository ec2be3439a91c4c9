#include "theory/compute.h"

#include <gtest/gtest.h>

#include "support/times.h"

namespace dutiful::theory {
namespace {

using namespace std::chrono_literals;

const Instant noon = at("2025-03-03T12:00:00Z");

const auto only_member = [](const auto& /*collect*/) {};

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
  Stretches member;
  ComputeClock clock;
  clock.advance(noon);
  clock.set_saturated(member, true);
  clock.advance(noon + 3s);
  clock.set_saturated(member, false);
  clock.advance(noon + 4s);
  EXPECT_EQ(clock.granted(), 4s);
  EXPECT_EQ(clock.usable_since(noon, 0us), 1s);
  EXPECT_EQ(clock.usable_since(noon + 2s, 2s), 1s);
  EXPECT_EQ(clock.usable_since(noon + 3500ms, 3500ms), 500ms);
}

// RULES H10
TEST(ComputeClock, resumes_the_time_of_L1_when_a_callback_returns) {
  Stretches member;
  ComputeClock clock;
  clock.advance(noon);
  clock.set_saturated(member, true);
  clock.advance(noon + 3s);
  clock.set_saturated(member, false);
  clock.advance(noon + 4s);
  clock.set_saturated(member, true);
  clock.advance(noon + 10s);
  clock.make_room(member, noon + 5s, only_member);  // which is only known now
  EXPECT_EQ(clock.usable_since(noon, 0us), 6s);
  clock.make_room(member, noon + 2s, only_member);
  EXPECT_EQ(clock.usable_since(noon, 0us), 8s);
  EXPECT_EQ(clock.usable_since(noon + 9s, 9s), 1s);
}

// RULES H10, N11
TEST(ComputeClock, excuses_the_time_in_which_any_member_is_saturated_once) {
  Stretches first;
  Stretches second;
  ComputeClock clock;
  clock.advance(noon);
  clock.set_saturated(first, true);
  clock.advance(noon + 2s);
  clock.set_saturated(second, true);
  clock.advance(noon + 4s);
  clock.set_saturated(first, false);
  clock.advance(noon + 6s);
  clock.set_saturated(second, false);
  clock.advance(noon + 10s);
  EXPECT_EQ(clock.usable_since(noon, 0us), 4s);

  // What one of them turns out not to excuse, the other still does.
  const auto both = [&](const auto& collect) {
    collect(first);
    collect(second);
  };
  clock.make_room(first, noon + 1s, both);
  EXPECT_EQ(clock.usable_since(noon, 0us), 5s);
  clock.make_room(second, noon + 3s, both);
  EXPECT_EQ(clock.usable_since(noon, 0us), 8s);
}

TEST(ComputeClock, excuses_the_time_in_which_every_member_is_frozen) {
  Stretches member;
  ComputeClock clock;
  clock.advance(noon);
  clock.set_all_frozen_until(noon + 3s);
  clock.advance(noon + 5s);
  EXPECT_EQ(clock.granted(), 5s);
  EXPECT_EQ(clock.usable_since(noon, 0us), 2s);
  clock.set_saturated(member, true);
  clock.advance(noon + 6s);
  clock.make_room(member, noon + 2s, [&](const auto& collect) { collect(member); });
  EXPECT_EQ(clock.usable_since(noon, 0us), 3s);
}

TEST(ComputeClock, grants_nothing_in_an_outage_though_nothing_is_frozen) {
  ComputeClock clock;
  clock.advance(noon);
  clock.withhold(noon + 3s);
  EXPECT_FALSE(clock.frozen());
  clock.advance(noon + 5s);
  EXPECT_EQ(clock.granted(), 2s);
}

TEST(FrozenTime, counts_overlapping_freezes_once) {
  FrozenTime frozen;
  EXPECT_EQ(frozen.total(noon), 0ms);
  frozen.freeze(noon, noon + 4s);
  frozen.freeze(noon + 2s, noon + 6s);
  EXPECT_EQ(frozen.total(noon + 3s), 3s);
  EXPECT_EQ(frozen.total(noon + 9s), 6s);
  frozen.freeze(noon + 10s, noon + 12s);
  EXPECT_EQ(frozen.total(noon + 11s), 7s);
  EXPECT_EQ(frozen.total(noon + 20s), 8s);
}

TEST(Stretches, keep_their_sum_but_not_their_whole_past) {
  Stretches saturation;
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
