#include "account/waits.h"

#include <map>

#include <gtest/gtest.h>

namespace dutiful {
namespace {

Instant minute(int n) {
  return Instant{std::chrono::minutes{n}};
}

// The reason at each of these minutes.
std::vector<Fate> reasons(const Waits& waits, int from, int until) {
  std::vector<Fate> reasons;
  Instant next = minute(from) - Duration{1};
  waits.for_each(next, minute(until), [&](Instant after, Instant to, Fate reason) {
    EXPECT_EQ(after, next);  // no part is missing
    EXPECT_LT(after, to);
    for (int n = from; n <= until; ++n) {
      if (after < minute(n) && minute(n) <= to) reasons.push_back(reason);
    }
    next = to;
  });
  EXPECT_EQ(next, minute(until));
  return reasons;
}

using enum Fate;

TEST(Waits, begin_without_a_reason) {
  EXPECT_EQ(reasons(Waits{}, 1, 2), (std::vector{asleep, asleep}));
}

TEST(Waits, change_at_the_instant_they_are_noted) {
  Waits waits;
  waits.note(asleep, minute(0));
  waits.note(limit, minute(2));
  waits.note(limit, minute(3));
  waits.note(store, minute(4));
  waits.note(asleep, minute(5));
  EXPECT_EQ(reasons(waits, 1, 6), (std::vector{asleep, limit, limit, store, asleep, asleep}));
  EXPECT_EQ(reasons(waits, 3, 4), (std::vector{limit, store}));
}

TEST(Waits, keep_the_last_reason_of_an_instant) {
  Waits waits;
  waits.note(store, minute(2));
  waits.note(limit, minute(2));
  EXPECT_EQ(reasons(waits, 1, 3), (std::vector{asleep, limit, limit}));
}

// T7
TEST(Waits, forget_the_future_when_the_clock_is_set_back) {
  Waits waits;
  waits.note(limit, minute(2));
  waits.note(store, minute(8));
  waits.note(limit, minute(4));
  EXPECT_EQ(reasons(waits, 1, 9),
            (std::vector{asleep, limit, limit, limit, limit, limit, limit, limit, limit}));
}

TEST(Waits, forget_the_oldest_reasons_if_there_are_too_many) {
  Waits waits;
  for (int n = 1; n <= 1000; ++n) waits.note(n % 2 == 0 ? store : limit, minute(n));
  EXPECT_EQ(reasons(waits, 997, 1001), (std::vector{limit, store, limit, store, store}));
  // The oldest reason that is known stands for all before it.
  const auto old = reasons(waits, 1, 500);
  EXPECT_TRUE(std::ranges::all_of(old, [&](Fate reason) { return reason == old.front(); }));
}

}  // namespace
}  // namespace dutiful
