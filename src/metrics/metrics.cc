#include "metrics/metrics.h"

#include <algorithm>

#include "core/best_effort.h"
#include "metrics/render.h"

namespace dutiful {

// What each event changes.
class Metrics::Adding {
 public:
  explicit Adding(Metrics& metrics) : to_(metrics) {}

  void operator()(const event::TaskAdded& event) { to_.tasks_.list(event.task); }
  void operator()(const event::TaskPreserved& event) { to_.tasks_.list(event.task); }
  void operator()(const event::TaskOverridden& event) { to_.tasks_.list(event.task); }
  void operator()(const event::TaskRemoved& event) { to_.tasks_.remove(event.task); }
  void operator()(const event::TaskOrphaned& event) {
    to_.tasks_.count(event.task, [](TaskCounts& task) { ++task.orphans; });
  }

  void operator()(const event::TaskRunStarted& event) {
    // As in the history: a boot run is never late, because its task did not exist when its minute
    // began; an orphan is late since its pulse.
    const bool has_lateness = event.reason != Reason::boot;
    const Duration lateness = event.actual - event.scheduled;
    to_.tasks_.count(event.task, [&](TaskCounts& task) {
      task.pulses += event.served;
      if (event.reason == Reason::retry) ++task.retries;
      if (has_lateness) task.lateness.add(lateness);
    });
    if (!has_lateness) return;
    to_.lateness_.update([&](RunHistogram& all) { all.add(lateness, run_bounds); });
  }

  void operator()(const event::TaskRunCompleted& event) { add_end(event, &TaskCounts::successes); }
  void operator()(const event::TaskRunFailed& event) { add_end(event, &TaskCounts::failures); }

  void operator()(const event::StoreCommitted& event) {
    to_.store_.update([&](StoreCounts& store) {
      store.transactions.add(event.duration, store_bounds);
      store.tasks_recorded += static_cast<std::uint64_t>(event.tasks);
    });
  }
  void operator()(const event::StoreFailed& /*event*/) {
    to_.store_.update([](StoreCounts& store) { ++store.failures; });
  }
  void operator()(const event::TheoryViolated& /*event*/) {
    to_.losses_.update([](LossCounts& losses) { ++losses.theory_violations; });
  }
  void operator()(const event::NotificationFailed& /*event*/) {
    to_.losses_.update([](LossCounts& losses) { ++losses.notifications_failed; });
  }
  void operator()(const event::NotificationsDropped& event) {
    to_.losses_.update([&](LossCounts& losses) {
      losses.notifications_dropped += static_cast<std::uint64_t>(event.count);
    });
  }
  // Both name the runs that were lost since the last report.
  void operator()(const event::HistoryFailed& event) { add_lost(event.lost); }
  void operator()(const event::HistoryRecovered& event) { add_lost(event.lost); }

  template <typename Other>
  void operator()(const Other& /*event*/) {}

 private:
  template <typename Ended>
  void add_end(const Ended& event, TaskCounts::RunsByReason TaskCounts::*runs) {
    to_.tasks_.count(event.task, [&](TaskCounts& task) {
      ++(task.*runs).of(event.reason);
      task.duration.add(event.duration);
    });
    to_.duration_.update([&](RunHistogram& all) { all.add(event.duration, run_bounds); });
  }

  void add_lost(std::int64_t runs) {
    to_.losses_.update(
        [&](LossCounts& losses) { losses.history_lost += static_cast<std::uint64_t>(runs); });
  }

  Metrics& to_;
};

void Metrics::add(const TypedEvent& event) noexcept {
  best_effort([&] {
    events_[event.what.index()].fetch_add(1, std::memory_order_relaxed);
    const Lock lock{adding_};
    std::visit(Adding{*this}, event.what);
  });
}

std::string Metrics::render(const MetricsInput& input) const {
  return metrics_page(copy(), input);
}

Counts Metrics::copy() const {
  EventCounts events{};
  std::ranges::transform(events_, events.begin(), [](const auto& count) {
    return count.load(std::memory_order_relaxed);
  });
  return {.duration = duration_.read(),
          .lateness = lateness_.read(),
          .store = store_.read(),
          .losses = losses_.read(),
          .events = events,
          .others = tasks_.copy_others(),
          .tasks = tasks_.copy()};
}

}  // namespace dutiful
