// The events that a scheduler reports (RULES V).
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <dutiful/export.h>
#include <dutiful/time.h>

namespace dutiful {

enum class Level { debug, info, warning, error };

// A named value of an event. Times are text in ISO 8601.
struct EventField {
  using Value = std::variant<bool, std::int64_t, std::string, std::vector<EventField>>;
  EventField(std::string_view name_of, Value value_of)
      : name(name_of), value(std::move(value_of)) {}

  // Instead of the default, because of a fault of libstdc++ 12: if memory runs out while a variant
  // is copied, the copy takes itself for complete, and destroys a value that it does not hold.
  EventField(const EventField& other)
      : name(other.name),
        value(std::visit([](const auto& held) { return Value{held}; }, other.value)) {}
  EventField(EventField&&) noexcept = default;
  EventField& operator=(const EventField& other) { return *this = EventField{other}; }
  EventField& operator=(EventField&&) noexcept = default;
  ~EventField() = default;

  std::string_view name;  // of static storage duration
  Value value;
};

// Something that happened. The names of events and of their fields are the same in every release.
// docs/events.md lists them all; some of them are:
//
//   TaskRunStarted    info     taskName, scheduledTime, actualTime; isRetry, missedCount, …
//   TaskRunCompleted  info     taskName, duration, success
//   TaskRunFailed     warning  taskName, duration, success, error; nextRetryAt
struct Event {
  std::string_view name;  // of static storage duration
  Level level;
  Instant at;
  std::vector<EventField> fields;
};

// Receives every event. The events of one task arrive in the order in which they happened.
//
// It is called by the scheduler's thread, by threads in initialize() or stop(), and by the thread
// that constructs or destroys the scheduler, but never by two at the same time. So what it uses
// must exist before the scheduler and outlive it. It should be quick, because all starts wait for
// it. Of the scheduler it may call only status(). Exceptions that it throws are ignored.
using EventSink = std::function<void(const Event&)>;

// The event as a JSON object on one line, without the newline:
// {"time":"2025-03-03T10:00:00.000Z","level":"INFO","event":"TaskRunStarted","taskName":"backup",…}
// Control characters, line separators and bidirectional controls are written as \uXXXX, and bytes
// that are not UTF-8 as \xNN. So a task's name stays readable and can never forge a line.
[[nodiscard]] DUTIFUL_EXPORT std::string to_json(const Event& event);

// A sink that writes each event as such a line. The stream must outlive the scheduler.
[[nodiscard]] DUTIFUL_EXPORT EventSink json_lines(std::ostream& out);

}  // namespace dutiful
