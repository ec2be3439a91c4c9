// The observable events of a scheduler: the alphabet of the theory, of traces and of nothing else.
#pragma once

#include <cstddef>
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

// Is told every event in the order in which they are observed.
class TraceSink {
 public:
  virtual ~TraceSink() = default;
  virtual void on(Instant at, const TraceEvent& event) = 0;
};

}  // namespace dutiful
