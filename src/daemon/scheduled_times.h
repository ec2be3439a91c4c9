// When each run should have started, from its event until it ends.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>

#include <dutiful/time.h>

#include "events/catalogue.h"
#include "sync/mutex.h"

namespace dutiful {

// Safe to use from any thread.
class ScheduledTimes {
 public:
  void take(const TypedEvent& event) {
    const auto* started = std::get_if<event::TaskRunStarted>(&event.what);
    if (started == nullptr) return;
    const Lock lock{mutex_};
    times_[started->task] = started->scheduled;
  }

  std::optional<Instant> give(const std::string& task) {
    const Lock lock{mutex_};
    const auto found = times_.find(task);
    if (found == times_.end()) return std::nullopt;
    const Instant time = found->second;
    times_.erase(found);
    return time;
  }

 private:
  Mutex mutex_;
  std::unordered_map<std::string, Instant> times_ GUARDED_BY(mutex_);
};

}  // namespace dutiful
