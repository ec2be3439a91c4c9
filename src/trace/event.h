// The observable events of a scheduler: the alphabet of the theory and of traces.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
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

// The number of an initialize() or stop(), because several may be in progress: a call and its
// answer have the same number. Without a number, calls are answered in the order of RULES I4.
using CallNumber = std::optional<std::uint64_t>;

// The number of a run, which grows with every start of its task (RULES P8). It says which run of a
// task an event is about. Without one, it is about the newest.
using Fence = std::optional<std::uint64_t>;

// Why an initialize() was rejected (RULES H12).
enum class RefusalCause : std::uint8_t {
  list,         // the list is invalid, or the scheduler was already active
  environment,  // the list is valid, but the state is held, damaged or not writable
  unseen,       // the list is invalid because of something not in a trace: a callback, a time limit
};

struct InitStart {
  std::vector<TracedRegistration> registrations;
  CallNumber call{};
};
struct InitSuccess {
  CallNumber call{};
};
struct InitFailure {
  std::string error;  // the error's name
  RefusalCause cause = RefusalCause::list;
  CallNumber call{};
};
struct StopStart {
  CallNumber call{};
};
struct StopEnd {
  CallNumber call{};
};
struct RunStart {
  std::string task;
  std::string reason;  // cron, retry, orphan, boot
  Fence fence{};
};
// An end is observed when it is recorded (RULES H5). If the callback returned earlier, `ended` is
// when (RULES H10).
struct RunSuccess {
  std::string task;
  std::optional<Instant> ended{};
  Fence fence{};
};
struct RunFailure {
  std::string task;
  std::optional<Instant> ended{};
  Fence fence{};
};
// A run is over without a result: it was ended because the lease of its member ended (RULES N5), or
// it was recorded as started and never began. In the latter case, `ended` is not after its start.
struct RunInterrupted {
  std::string task;
  std::optional<Instant> ended{};
  Fence fence{};
};
// The scheduler died. On a cluster, the member of the event died, whoever noticed it.
struct Crash {};
// The scheduler could do nothing until then. On a cluster, the member of the event could not.
struct Freeze {
  Instant until;
};
// Until then the environment withholds what a cluster needs: its database cannot be reached, or a
// member has died and its lease runs out. Unlike in a Freeze, things may happen.
struct Outage {
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
                                RunInterrupted,
                                Crash,
                                Freeze,
                                Outage>;

struct TracedEvent {
  Instant at;
  TraceEvent event;
  std::string member{};  // of the cluster (RULES N11); empty in a trace of one machine
};

struct DurableTask;

// Receives every event in the order of observation.
class TraceSink {
 public:
  virtual ~TraceSink() = default;
  virtual void on(Instant at, const TraceEvent& event) = 0;

  // Whether the events are used at all. If not, a list of a million tasks need not be copied.
  [[nodiscard]] virtual bool listens() const { return true; }

  // Something that is not an event is about to happen, so events that are buffered should be
  // written now.
  virtual void flush() {}

  // Whether the trace ends with a scheduler that did not stop. If so, recover() receives the state
  // that it left, before the InitSuccess of the next scheduler.
  [[nodiscard]] virtual bool wants_state() const { return false; }
  virtual void recover(std::span<const DurableTask> /*state*/) {}
};

}  // namespace dutiful
