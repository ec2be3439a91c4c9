// What an event says, by the names of its fields.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <dutiful/events.h>

#include "time/iso8601.h"

namespace dutiful {

// Null where there is no such field, or one of another type.
template <typename T>
[[nodiscard]] const T* find_field(const Event& event, std::string_view name) {
  for (const EventField& field : event.fields) {
    if (field.name == name) return std::get_if<T>(&field.value);
  }
  return nullptr;
}

[[nodiscard]] inline std::optional<Instant> find_time(const Event& event, std::string_view name) {
  const auto* text = find_field<std::string>(event, name);
  const auto time = text == nullptr ? std::nullopt : parse_timestamp(*text);
  return time && time->offset ? std::optional{time->instant(*time->offset)} : std::nullopt;
}

}  // namespace dutiful
