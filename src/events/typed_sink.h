// Sinks that take typed events.
#pragma once

#include <functional>
#include <utility>

#include <dutiful/events.h>

#include "events/catalogue.h"

namespace dutiful {

using TypedSink = std::function<void(const TypedEvent&)>;

// Carries a TypedSink through Options::events, for code of this project that needs typed events. A
// scheduler extracts the sink with typed_sink() and never calls this object.
struct TypedEvents {
  TypedSink sink;
  void operator()(const Event& /*published*/) const {}
};

// Whether the sink belongs to this project's code, which also receives events that are not for
// users.
[[nodiscard]] inline bool is_typed(const EventSink& sink) {
  return sink.target<TypedEvents>() != nullptr;
}

// A typed sink that passes events on to the user's sink. Empty if the user gave none, so that no
// event is made in vain.
[[nodiscard]] inline TypedSink typed_sink(EventSink sink) {
  if (!sink) return {};
  if (auto* const typed = sink.target<TypedEvents>()) return std::move(typed->sink);
  return [sink = std::move(sink)](const TypedEvent& event) { sink(publish(event)); };
}

}  // namespace dutiful
