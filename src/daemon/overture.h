// What is told of the scheduler before the daemon is ready, and in which order.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include <dutiful/events.h>

#include "sync/mutex.h"

namespace dutiful {

// The scheduler starts runs as soon as the state is its own, but nothing begins before the daemon
// is ready for them, so that is told first. Keeps back a run's start, and what comes after it.
class Overture {
 public:
  using Tell = std::function<void(const Event&)>;

  explicit Overture(Tell tell) : tell_(std::move(tell)) {}

  void take(const Event& event) {
    const Lock lock{mutex_};
    if (!over_ && (event.name == "TaskRunStarted" || !kept_.empty())) {
      kept_.push_back(event);
    } else {
      tell_(event);
    }
  }

  void end() {
    const Lock lock{mutex_};
    over_ = true;
    for (const Event& event : std::exchange(kept_, {})) tell_(event);
  }

 private:
  const Tell tell_;
  Mutex mutex_;
  std::vector<Event> kept_ GUARDED_BY(mutex_);
  bool over_ GUARDED_BY(mutex_) = false;
};

}  // namespace dutiful
