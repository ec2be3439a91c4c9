// Orders the events that are reported while the daemon starts.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "events/catalogue.h"
#include "sync/mutex.h"

namespace dutiful {

// The scheduler reports starts as soon as it holds the state, but no command begins before the
// daemon is ready, and TaskFileLoaded is reported first. Until release(), this holds back the first
// start and every line after it.
class StartupEventBuffer {
 public:
  using Write = std::function<void(std::string)>;

  explicit StartupEventBuffer(Write write) : write_(std::move(write)) {}

  void add(const TypedEvent& event, std::string line) {
    const Lock lock{mutex_};
    if (!released_ && (!held_.empty() || begins_a_start(event.what))) {
      held_.push_back(std::move(line));
    } else {
      write_(std::move(line));
    }
  }

  [[nodiscard]] bool is_released() {
    const Lock lock{mutex_};
    return released_;
  }

  void release() {
    const Lock lock{mutex_};
    released_ = true;
    for (std::string& line : std::exchange(held_, {})) write_(std::move(line));
  }

 private:
  // A retry, and a pulse that pre-empts one, are reported just before their start.
  static bool begins_a_start(const event::Any& what) {
    return std::holds_alternative<event::TaskRunStarted>(what) ||
           std::holds_alternative<event::TaskRetryStarted>(what) ||
           std::holds_alternative<event::TaskRetryPreempted>(what);
  }

  const Write write_;
  Mutex mutex_;
  std::vector<std::string> held_ GUARDED_BY(mutex_);
  bool released_ GUARDED_BY(mutex_) = false;
};

}  // namespace dutiful
