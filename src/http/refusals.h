// Reports refused requests, but not all of a flood.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "sync/mutex.h"

namespace dutiful::http {

// As the event AccessRefused (RULES V).
struct RefusedRequest {
  std::string what;            // "GET /api/v1/tasks", "connection"
  std::string reason;          // "the token is wrong"
  std::string who;             // the address of the client
  std::size_t unreported = 0;  // refusals before this one that were not reported
};

// Passes on one refusal in each interval, with the number of those in between. Thread-safe.
class Refusals {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Report = std::function<void(const RefusedRequest&)>;
  Refusals(Report report, std::chrono::milliseconds interval)
      : report_(std::move(report)), interval_(interval) {}

  // Exceptions of the report are ignored.
  void add(RefusedRequest refused, Time now) noexcept;

 private:
  const Report report_;
  const std::chrono::milliseconds interval_;
  Mutex mutex_;
  std::optional<Time> last_ GUARDED_BY(mutex_);
  std::size_t unreported_ GUARDED_BY(mutex_) = 0;
};

}  // namespace dutiful::http
