// Sinks that take typed events.
#pragma once

#include <functional>
#include <utility>

#include <dutiful/events.h>

#include "events/catalogue.h"

namespace dutiful {

using TypedSink = std::function<void(const TypedEvent&)>;

// Carries a TypedSink through Options::events, for a program of our own that has no use for names
// and texts. A scheduler takes it out again with typed_sink() and never calls it.
struct TypedEvents {
  TypedSink sink;
  void operator()(const Event& /*published*/) const {}
};

// The sink that a user has given, for typed events. Empty if there is none, so that nothing is
// reported to nobody.
[[nodiscard]] inline TypedSink typed_sink(EventSink sink) {
  if (!sink) return {};
  if (auto* const typed = sink.target<TypedEvents>()) return std::move(typed->sink);
  return [sink = std::move(sink)](const TypedEvent& event) { sink(publish(event)); };
}

}  // namespace dutiful
