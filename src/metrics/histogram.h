// Counts durations by size.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include <dutiful/time.h>

namespace dutiful {

// How many durations there were, and their sum.
struct DurationSum {
  std::uint64_t count = 0;
  Duration sum{};

  // A negative duration, after a clock was set back, counts as zero: a sum never becomes smaller.
  void add(Duration duration) {
    ++count;
    sum += std::max(duration, Duration::zero());
  }
};

// The bounds are inclusive and ascending. Bucket i counts the durations above bounds[i - 1] and up
// to bounds[i]; the last one counts those above all bounds.
template <std::size_t size>
struct Histogram {
  std::array<std::uint64_t, size + 1> buckets{};
  DurationSum total;

  void add(Duration duration, const std::array<Duration, size>& bounds) {
    const auto bound = std::ranges::lower_bound(bounds, duration);
    ++buckets[static_cast<std::size_t>(bound - bounds.begin())];
    total.add(duration);
  }
};

}  // namespace dutiful
