// A store that reports how long its transactions take.
#pragma once

#include <dutiful/scheduler.h>

#include "engine/engine.h"
#include "events/typed_sink.h"

namespace dutiful {

// Opens the same stores, which report each transaction that succeeds as StoreCommitted. Requires a
// sink. The clock must outlive the stores.
[[nodiscard]] Engine::OpenStore measured(Engine::OpenStore open,
                                         const Clock& clock,
                                         const TypedSink& events);

}  // namespace dutiful
