// What a trace knows of a scheduler that may have died: the runs that it has not seen the end of.
#pragma once

#include <deque>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "trace/event.h"

namespace dutiful {

// A task and its newest run, as the state of the scheduler has them.
struct DurableTask {
  TracedRegistration registration;
  bool running;                        // the newest run has not ended,
  bool awaits_retry;                   // or has failed
  bool again = false;                  // it was not the first attempt
  std::optional<Instant> started{};    // when that began,
  std::optional<Instant> succeeded{};  // when a run of the task last succeeded,
  std::optional<Instant> failed{};     // and when one last failed
};

class InFlight {
 public:
  void on(Instant at, const TraceEvent& event);

  // Whether a scheduler is alive, as far as the trace says: where the next thing that happens is
  // another one, this one has crashed.
  [[nodiscard]] bool alive() const {
    return active_ || stopping_ || !initializing_.empty() || !started_.empty();
  }

  // What the scheduler made durable and died before it could tell. An end is observed when it is
  // durably recorded (RULES H5), so the state is right, and the trace has to follow.
  [[nodiscard]] std::vector<TracedEvent> missing_events(std::span<const DurableTask> state) const;

 private:
  void answer(CallNumber call, bool refused);

  bool active_ = false;
  bool stopping_ = false;
  std::deque<InitStart> initializing_;  // those that are not answered yet
  std::unordered_map<std::string, Instant> started_;
  std::unordered_map<std::string, Instant> interrupted_;  // by an earlier crash, which was told
};

}  // namespace dutiful
