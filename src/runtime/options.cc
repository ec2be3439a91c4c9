#include "runtime/options.h"

#include "runtime/system_clock.h"
#include "store/memory/memory_store.h"
#include "store/sqlite/sqlite_store.h"
#include "sync/mutex.h"

namespace dutiful {

Calendar calendar_of(const Options& options) {
  return Calendar{options.zone ? *options.zone : Zone::host(), options.repeated_minutes};
}

Policies policies_of(const Options& options) {
  return {.repeated_minutes = options.repeated_minutes,
          .reinitialize = options.reinitialize,
          .override = options.override,
          .max_concurrent = options.max_concurrent};
}

std::shared_ptr<Clock> clock_of(const Options& options) {
  return options.clock ? options.clock : std::make_shared<SystemClock>();
}

Engine::OpenStore store_opener_of(const Options& options) {
  if (!options.state.empty()) {
    return [state = options.state] { return open_sqlite_store(state); };
  }
  return
      [memory = std::make_shared<MemoryState>()] { return std::make_unique<MemoryStore>(memory); };
}

TypedSink synchronized_sink_of(const Options& options) {
  TypedSink sink = typed_sink(options.events);
  if (!sink) return {};
  return [sink = std::move(sink), mutex = std::make_shared<Mutex>()](const TypedEvent& event) {
    const Lock lock{*mutex};
    sink(event);
  };
}

}  // namespace dutiful
