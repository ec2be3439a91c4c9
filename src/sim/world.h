// A virtual world around the real engine: exact time, scripted callbacks, crashes and freezes.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "store/memory/memory_store.h"

namespace dutiful {

// What one run of a task does.
struct ScriptedRun {
  Duration takes{};
  std::optional<Outcome> result = Outcome::success;  // nothing: it never ends
};

struct Step {
  enum class Kind { initialize, stop, crash, freeze, end };
  Instant at;
  Kind kind;
  std::vector<TaskConfig> registrations;  // of an initialize
  Instant until{};                        // of a freeze
};

struct Scenario {
  Zone zone = Zone::utc();
  Policies policies;
  std::map<std::string, std::vector<ScriptedRun>> callbacks;  // the last run of each repeats
  std::vector<Step> steps;                                    // in time order; the last is `end`
};

// Plays a scenario and returns what was observed. Time is exact: a start happens at the instant its
// obligation arises. At one instant callbacks end first, then the steps happen, then tasks start.
//
// Throws std::runtime_error where virtual time would stand still: a task that always fails at once,
// and is retried at once.
[[nodiscard]] std::vector<TracedEvent> play(const Scenario& scenario);

}  // namespace dutiful
