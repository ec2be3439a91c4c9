// When each run should have started, from its event until it ends.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>

#include <dutiful/events.h>
#include <dutiful/time.h>

#include "daemon/event_fields.h"
#include "sync/mutex.h"

namespace dutiful {

// Safe to use from any thread.
class ScheduledTimes {
 public:
  void take(const Event& event) {
    if (event.name != "TaskRunStarted") return;
    const auto* task = find_field<std::string>(event, "taskName");
    const auto time = find_time(event, "scheduledTime");
    if (task == nullptr || !time) return;
    const Lock lock{mutex_};
    times_[*task] = *time;
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
