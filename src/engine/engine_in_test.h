// An engine without threads or clocks, with a store that fails on demand.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <dutiful/errors.h>

#include "engine/engine.h"
#include "store/memory/memory_store.h"
#include "support/times.h"

namespace dutiful {

// Fails the given number of calls of each kind.
class FaultyStore : public MemoryStore {
 public:
  struct Faults {
    int load = 0;
    int replace = 0;
    int commit = 0;
  };
  FaultyStore(std::shared_ptr<MemoryState> state, Faults& faults)
      : MemoryStore(std::move(state)), faults_(faults) {}

  StoredState load() override {
    fail(faults_.load);
    return MemoryStore::load();
  }
  std::vector<std::int64_t> replace(const Plan& plan, const std::string& scheduler) override {
    fail(faults_.replace);
    return MemoryStore::replace(plan, scheduler);
  }
  void commit(std::span<const RowUpdate> updates) override {
    fail(faults_.commit);
    MemoryStore::commit(updates);
  }

 private:
  static void fail(int& times) {
    if (times > 0) {
      --times;
      throw StoreError("test", "fails on purpose");
    }
  }
  Faults& faults_;
};

class EngineTest : public testing::Test, public TraceSink {
 protected:
  std::shared_ptr<MemoryState> state = std::make_shared<MemoryState>();
  FaultyStore::Faults faults;
  std::vector<std::string> events;
  Instant now = at("2025-03-03T10:00:30Z");
  Policies policies;
  std::unique_ptr<Engine> engine = make();

  std::unique_ptr<Engine> make(const char* zone = "UTC") {
    return std::make_unique<Engine>(
        Calendar{Zone::load(zone)},
        policies,
        [this] { return std::make_unique<FaultyStore>(state, faults); },
        *this,
        [this](const TypedEvent& event) { events.push_back(to_json(publish(event))); });
  }

  void on(Instant /*at*/, const TraceEvent& event) override {
    crashed = std::holds_alternative<Crash>(event);
    if (const auto* failure = std::get_if<InitFailure>(&event)) refusal = *failure;
    if (std::holds_alternative<InitStart>(event)) durable_when_flushed = {};
  }
  void flush() override {
    if (!durable_when_flushed) durable_when_flushed = !state->rows.empty();
  }
  std::optional<bool> durable_when_flushed = false;
  bool crashed = false;  // whether the last traced event is a Crash
  InitFailure refusal;   // the last traced one

  void initialize(const std::string& cron, Duration retry_delay = std::chrono::minutes{1}) {
    engine->initialize({{.name = "a", .cron = cron, .retry_delay = retry_delay}}, now);
  }

  // Its callback returns at that instant.
  void end(const Start& start, Outcome outcome, Instant returned, std::string error = {}) {
    engine->end(start.task, {outcome, std::move(error), returned, returned - start.at}, returned);
  }

  // The events of that name so far.
  [[nodiscard]] std::vector<std::string> reported(const std::string& name) const {
    std::vector<std::string> found;
    for (const std::string& event : events) {
      if (event.find("\"event\":\"" + name + "\"") != std::string::npos) found.push_back(event);
    }
    return found;
  }
  [[nodiscard]] const TaskProgress& stored() const { return state->rows.front().progress; }
};

}  // namespace dutiful
