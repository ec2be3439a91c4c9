// What the metrics count, as they are at one moment.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <variant>
#include <vector>

#include "events/catalogue.h"
#include "metrics/histogram.h"
#include "metrics/task_series.h"

namespace dutiful {

// Of runs: from a millisecond to a week.
inline constexpr std::array<Duration, 20> run_bounds = [] {
  using namespace std::chrono_literals;
  return std::array<Duration, 20>{1ms,  5ms,  10ms,  50ms,  100ms, 500ms, 1s, 5s,  10s, 30s,
                                  1min, 5min, 10min, 30min, 1h,    3h,    6h, 24h, 48h, 168h};
}();

// Of transactions: from a millisecond to the half minute for which a commit may wait for others.
inline constexpr std::array<Duration, 14> store_bounds = [] {
  using namespace std::chrono_literals;
  return std::array<Duration, 14>{
      1ms, 2ms, 5ms, 10ms, 20ms, 50ms, 100ms, 200ms, 500ms, 1s, 2s, 5s, 10s, 30s};
}();

using RunHistogram = Histogram<run_bounds.size()>;

struct StoreCounts {
  Histogram<store_bounds.size()> transactions{};
  std::uint64_t tasks_recorded = 0;  // by those transactions
  std::uint64_t failures = 0;
};

struct LossCounts {
  std::uint64_t theory_violations = 0;
  std::uint64_t history_lost = 0;  // runs
  std::uint64_t notifications_failed = 0;
  std::uint64_t notifications_dropped = 0;
};

// Of each event, by its place in event::Any.
using EventCounts = std::array<std::uint64_t, std::variant_size_v<event::Any>>;

struct Counts {
  RunHistogram duration{};
  RunHistogram lateness{};
  StoreCounts store{};
  LossCounts losses{};
  EventCounts events{};
  TaskCounts others{};  // of all tasks without series
  std::vector<TaskSeries::Copy> tasks{};
};

}  // namespace dutiful
