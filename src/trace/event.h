// The observable events of a scheduler: the alphabet of the theory, of traces and of nothing else.
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

// Which initialize() or stop() an event is of, where several may be under way: a call and its
// answer have the same number. None: the calls are answered in the order that RULES I4 gives them.
using CallNumber = std::optional<std::uint64_t>;

// Why an initialize() was refused (RULES H12).
enum class RefusalCause : std::uint8_t {
  list,         // the list is invalid, or the scheduler was active already
  environment,  // the list is valid, but the state is held or damaged, or cannot be written
  unseen,       // the list is invalid for what no trace shows: a callback, a time limit
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
};
// An end is observed when it is recorded (RULES H5). Where the callback had returned before that,
// `ended` says when (RULES H10).
struct RunSuccess {
  std::string task;
  std::optional<Instant> ended{};
};
struct RunFailure {
  std::string task;
  std::optional<Instant> ended{};
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
