// What is to happen in a simulated world.
#pragma once

#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "core/core.h"

namespace dutiful {

// What one run of a task does.
struct ScriptedRun {
  Duration takes{};
  std::optional<Outcome> result = Outcome::success;  // nothing: it never ends
};

// A moment at which the process may die: right before its next transaction, or right after.
enum class CrashIn { nothing, before_commit, after_commit };

struct Step {
  enum class Kind {
    initialize,
    stop,
    crash,
    crash_in_commit,  // it dies at its next transaction
    fail_commits,     // its next transactions fail
    freeze,
    set_clock,  // forward; the callbacks that run take as long as before
    end,
  };
  Instant at;
  Kind kind;
  std::vector<TaskConfig> registrations{};    // of an initialize
  Instant until{};                            // of a freeze, or what the clock is set to
  int commits = 0;                            // how many fail
  CrashIn crash_in = CrashIn::before_commit;  // of a crash_in_commit
};

struct Scenario {
  Zone zone = Zone::utc();
  Policies policies{};
  std::map<std::string, std::vector<ScriptedRun>> callbacks{};  // the last run of each repeats
  std::vector<Step> steps{};                                    // in time order; the last is `end`
};

// The scenario cannot be read, or cannot be played.
class MalformedScenario : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Reads and writes it as JSON (FORMATS, "Scenario"). Throws MalformedScenario, which says where.
[[nodiscard]] Scenario parse_scenario(std::string_view text);
[[nodiscard]] std::string to_json(const Scenario& scenario);

}  // namespace dutiful
