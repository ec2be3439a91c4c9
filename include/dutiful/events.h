// What a scheduler tells of itself while it runs (RULES V).
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

  // As by default, but for want of memory: a variant of libstdc++ 12 that is copied when it runs
  // out takes itself for a whole one, and destroys what it does not hold.
  EventField(const EventField& other)
      : name(other.name),
        value(std::visit([](const auto& held) { return Value{held}; }, other.value)) {}
  EventField(EventField&&) noexcept = default;
  EventField& operator=(const EventField& other) { return *this = EventField{other}; }
  EventField& operator=(EventField&&) noexcept = default;
  ~EventField() = default;

  std::string_view name;  // lives for ever
  Value value;
};

// Something that happened. The names, and the names of the fields, are the same in every release:
//
//   TaskRunStarted    info     taskName, scheduledTime, actualTime; isRetry, missedCount, …
//   TaskRunCompleted  info     taskName, duration, success
//   TaskRunFailed     warning  taskName, duration, success, error; nextRetryAt
//   …                          the whole list is in docs/events.md
struct Event {
  std::string_view name;  // lives for ever
  Level level;
  Instant at;
  std::vector<EventField> fields;
};

// Is told every event, those of one task in the order in which they happened. Called by the
// scheduler's own thread or by one in initialize() or stop(), never by two at once; it should be
// quick and must not call the scheduler; what it throws is lost.
using EventSink = std::function<void(const Event&)>;

// The event as a JSON object on one line, without the newline:
// {"time":"2025-03-03T10:00:00.000Z","level":"INFO","event":"TaskRunStarted","taskName":"backup",…}
// Control characters, line separators and bidirectional controls are \uXXXX, and bytes that are not
// UTF-8 are shown as \xNN, so a name survives and never forges a line.
[[nodiscard]] DUTIFUL_EXPORT std::string to_json(const Event& event);

// A sink that writes each event as such a line. The stream must outlive it.
[[nodiscard]] DUTIFUL_EXPORT EventSink json_lines(std::ostream& out);

}  // namespace dutiful
