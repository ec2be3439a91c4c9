#include "core/task.h"

#include <gtest/gtest.h>

#include "support/times.h"

namespace dutiful {
namespace {

using namespace std::chrono_literals;

// K5
TEST(Later, is_exact_up_to_the_last_millisecond) {
  EXPECT_EQ(later(at("2025-03-03T10:00:00Z"), 1500ms), at("2025-03-03T10:00:01.500Z"));
  EXPECT_EQ(later(at("9999-12-31T23:59:00Z"), 0ms), at("9999-12-31T23:59:00Z"));
  EXPECT_EQ(later(at("9999-12-31T23:59:00Z"), 59s), at("9999-12-31T23:59:59Z"));
  EXPECT_EQ(later(at("0001-01-01T00:00:00Z"), 1ms), at("0001-01-01T00:00:00.001Z"));
}

TEST(Later, stops_at_the_end_of_the_clock_range) {
  for (const auto& [from, by] : std::initializer_list<std::pair<Instant, Duration>>{
           {at("9999-12-31T23:59:00Z"), 1min},
           {at("9999-12-31T23:59:00Z"), 1h},
           {at("2025-03-03T10:00:00Z"), Duration::max()},
           {clock_begin, Duration::max()},
           {clock_end, 0ms},
           {Instant::max(), 0ms},
           {Instant::max(), Duration::max()},
           {Instant::min(), Duration::max()}}) {
    EXPECT_EQ(later(from, by), clock_end);
  }
  EXPECT_FALSE(in_clock_range(clock_end));
}

TEST(ClockRange, covers_the_years_1_to_9999) {
  EXPECT_TRUE(in_clock_range(at("0001-01-01T00:00:00Z")));
  EXPECT_TRUE(in_clock_range(at("9999-12-31T23:59:59.998Z")));
  EXPECT_FALSE(in_clock_range(at("0001-01-01T00:00:00Z") - 1ms));
  EXPECT_FALSE(in_clock_range(at("9999-12-31T23:59:59.999Z") + 1ms));
  EXPECT_FALSE(in_clock_range(Instant::max()));
  EXPECT_FALSE(in_clock_range(Instant::min()));
}

}  // namespace
}  // namespace dutiful
