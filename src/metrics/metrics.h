// Metrics for Prometheus: counts events, and shows them with what a scheduler knows about its
// tasks.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>

#include "events/catalogue.h"
#include "metrics/counts.h"
#include "metrics/metrics_input.h"
#include "metrics/task_series.h"
#include "sync/mutex.h"
#include "sync/published.h"

namespace dutiful {

// Safe to use from any thread. A thread that adds an event waits only for others that add one, and
// for a copy of pointers if a task is added or removed; it never waits for a page.
class Metrics {
 public:
  // `tasks_max` tasks have series of their own (TaskSeries); the others are counted together.
  explicit Metrics(std::size_t tasks_max) : tasks_(tasks_max) {}

  // Counts an event, of the scheduler or of the daemon. If memory runs out, a new task is counted
  // with those that have no series.
  void add(const TypedEvent& event) noexcept;

  // The page, in the Prometheus text format. docs/metrics.md describes it.
  [[nodiscard]] std::string render(const MetricsInput& input) const;

 private:
  class Adding;

  [[nodiscard]] Counts copy() const;

  Mutex adding_;  // held by the thread that adds an event
  Published<RunHistogram> duration_;
  Published<RunHistogram> lateness_;
  Published<StoreCounts> store_;
  Published<LossCounts> losses_;
  std::array<std::atomic<std::uint64_t>, std::tuple_size_v<EventCounts>> events_{};
  TaskSeries tasks_;
};

}  // namespace dutiful
