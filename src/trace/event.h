// The observable events of a scheduler: the alphabet of the theory, of traces and of nothing else.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include <dutiful/time.h>

namespace dutiful {

struct TracedRegistration {
  std::string name;
  std::string cron;
  Duration retry_delay;

  friend bool operator==(const TracedRegistration&, const TracedRegistration&) = default;
};

struct InitStart {
  std::vector<TracedRegistration> registrations;
};
struct InitSuccess {};
struct InitFailure {
  std::string error;  // the error's name
};
struct StopStart {};
struct StopEnd {};
struct RunStart {
  std::string task;
  std::string reason;  // cron, retry, orphan, boot
};
struct RunSuccess {
  std::string task;
};
struct RunFailure {
  std::string task;
};
struct Crash {};
struct Freeze {
  Instant until;
};

using TraceEvent = std::variant<InitStart,
                                InitSuccess,
                                InitFailure,
                                StopStart,
                                StopEnd,
                                RunStart,
                                RunSuccess,
                                RunFailure,
                                Crash,
                                Freeze>;

struct TracedEvent {
  Instant at;
  TraceEvent event;
};

struct DurableTask;

// Is told every event in the order in which they are observed.
class TraceSink {
 public:
  virtual ~TraceSink() = default;
  virtual void on(Instant at, const TraceEvent& event) = 0;

  // Whether anybody reads it. A list of a million tasks is not copied for nobody.
  [[nodiscard]] virtual bool listens() const { return true; }

  // What was told so far has happened, and something else is about to: what is kept back in order
  // to be written together should be written now.
  virtual void flush() {}

  // Whether the trace ends with a scheduler that did not stop. If so, it is told the state that
  // this one left behind, before the InitSuccess of the next.
  [[nodiscard]] virtual bool wants_state() const { return false; }
  virtual void recover(std::span<const DurableTask> /*state*/) {}
};

}  // namespace dutiful
