// The runs and calls that a trace has not seen the end of, in case their scheduler has died. For a
// trace of one machine.
#pragma once

#include <deque>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "trace/event.h"

namespace dutiful {

// A task and its newest run, as recorded in the state.
struct DurableTask {
  TracedRegistration registration;
  bool running;                        // the newest run has not ended
  bool awaits_retry;                   // the newest run has failed
  bool again = false;                  // the newest run was not a first attempt
  std::optional<Instant> started{};    // the newest run
  std::optional<Instant> succeeded{};  // the last success of the task
  std::optional<Instant> failed{};     // its last failure
};

class InFlight {
 public:
  void on(Instant at, const TraceEvent& event);

  // Whether the trace shows a live scheduler. If the next event belongs to another scheduler, this
  // one has crashed.
  [[nodiscard]] bool alive() const {
    return active_ || stopping_ || !initializing_.empty() || !started_.empty();
  }

  // The events that the scheduler made durable but did not trace before it died. An end is observed
  // when it is durably recorded (RULES H5), so the state is right and the trace must follow.
  [[nodiscard]] std::vector<TracedEvent> missing_events(std::span<const DurableTask> state) const;

 private:
  void answer(CallNumber call, bool refused);

  bool active_ = false;
  bool stopping_ = false;
  std::deque<InitStart> initializing_;  // those without an answer
  std::unordered_map<std::string, Instant> started_;
  std::unordered_map<std::string, Instant> interrupted_;  // earlier in the trace
};

}  // namespace dutiful
