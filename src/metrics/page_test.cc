#include "metrics/page.h"

#include <gtest/gtest.h>

namespace dutiful {
namespace {

using namespace std::chrono_literals;

TEST(Page, has_families_with_samples) {
  Page page;
  page.family("things_total", Page::Type::counter, "Things.");
  page.sample({"kind=\"", "a", "\""}, 3);
  page.sample({}, std::uint64_t{18'446'744'073'709'551'615U});
  page.family("limit", Page::Type::gauge, "A limit.");
  page.infinite_sample({});
  EXPECT_EQ(page.take(),
            "# HELP things_total Things.\n"
            "# TYPE things_total counter\n"
            "things_total{kind=\"a\"} 3\n"
            "things_total 18446744073709551615\n"
            "# HELP limit A limit.\n"
            "# TYPE limit gauge\n"
            "limit +Inf\n");
}

TEST(Page, shows_times_in_seconds) {
  Page page;
  page.family("x", Page::Type::gauge, "X.");
  for (const Duration value : {0ms, 1ms, 50ms, 1500ms, 86'400'000ms, -1ms, -2500ms}) {
    page.sample({}, value);
  }
  page.sample({}, Instant{1'700'000'000'123ms});
  EXPECT_EQ(page.take(),
            "# HELP x X.\n# TYPE x gauge\nx 0\nx 0.001\nx 0.050\nx 1.500\nx 86400\nx -0.001\n"
            "x -2.500\nx 1700000000.123\n");
}

TEST(Page, shows_a_histogram_with_cumulative_buckets) {
  constexpr std::array<Duration, 2> bounds{5ms, 1s};
  Histogram<2> histogram;
  // A bound belongs to its bucket, and a clock that was set back makes nothing smaller.
  for (const Duration value : {5ms, 6ms, 1000ms, 1001ms, -7ms}) histogram.add(value, bounds);
  Page page;
  page.family("x", Page::Type::histogram, "X.");
  page.sample(histogram, bounds);
  EXPECT_EQ(page.take(),
            "# HELP x X.\n# TYPE x histogram\n"
            "x_bucket{le=\"0.005\"} 2\n"
            "x_bucket{le=\"1\"} 4\n"
            "x_bucket{le=\"+Inf\"} 5\n"
            "x_sum 2.012\n"
            "x_count 5\n");
}

}  // namespace
}  // namespace dutiful
