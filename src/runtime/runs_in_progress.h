// The runs that have started and not ended: their time limits, and who is asked to stop.
#pragma once

#include <memory>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runtime/active_run.h"

namespace dutiful {

struct StopRequest {
  std::shared_ptr<StopState> run;
  StopReason reason;
};
using StopRequests = std::vector<StopRequest>;

// Runs what users have registered on their stop tokens, so no lock may be held.
void send(const StopRequests& requests);

// Not thread-safe. Requests are collected, because the caller usually holds a lock. If memory runs
// out, the function throws std::bad_alloc, and the next call does what is left.
class RunsInProgress {
 public:
  // Requires that the task does not run.
  void add(std::shared_ptr<ActiveRun> run);
  // The run has ended.
  void remove(const ActiveRun& run) noexcept;
  [[nodiscard]] bool empty() const noexcept { return runs_.empty(); }

  // RULES X2: requests a stop of each run whose deadline is at `now` or before, once, in the order
  // of their deadlines. Such a run has failed, however it ends.
  void enforce_limits(Instant now);
  // When enforce_limits() next has something to do; Instant::max() if never.
  [[nodiscard]] Instant next_deadline() const noexcept;

  // RULES I5: requests a stop of every run, in the order of the tasks.
  void request_stop_of_all();
  void request_stop_of(const ActiveRun& run);

  [[nodiscard]] bool has_stop_requests() const noexcept { return !requests_.empty(); }
  // The requests to send since the last call.
  [[nodiscard]] StopRequests take_stop_requests() noexcept { return std::exchange(requests_, {}); }

 private:
  std::unordered_map<TaskId, std::shared_ptr<ActiveRun>> runs_;
  std::set<std::pair<Instant, TaskId>> deadlines_;  // of those runs that still have time
  StopRequests requests_;
};

}  // namespace dutiful
