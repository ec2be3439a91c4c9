// A scenario: the script of a simulated world.
#pragma once

#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "core/core.h"

namespace dutiful {

// One run of a task.
struct ScriptedRun {
  Duration takes{};
  std::optional<Outcome> result = Outcome::success;  // nothing if it never ends
};

// When the process dies: just before its next transaction or just after it.
enum class CrashIn { nothing, before_commit, after_commit };

struct Step {
  enum class Kind {
    initialize,
    stop,
    crash,
    crash_in_commit,  // the process dies at its next transaction
    fail_commits,     // the next transactions fail
    freeze,
    set_clock,  // forward; current runs take as long as before
    end,
  };
  Instant at;
  Kind kind;
  std::vector<TaskConfig> registrations{};    // of an initialize
  Instant until{};                            // the end of a freeze, or the new time of the clock
  int commits = 0;                            // how many fail
  CrashIn crash_in = CrashIn::before_commit;  // of a crash_in_commit
};

struct Scenario {
  Zone zone = Zone::utc();
  Policies policies{};
  std::map<std::string, std::vector<ScriptedRun>> callbacks{};  // the last run of each repeats
  std::vector<Step> steps{};  // in time order; the last one is `end`
};

// The scenario cannot be read or cannot be played.
class MalformedScenario : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Reads and writes a scenario as JSON (FORMATS, "Scenario"). Throws MalformedScenario, which says
// where.
[[nodiscard]] Scenario parse_scenario(std::string_view text);
[[nodiscard]] std::string to_json(const Scenario& scenario);

}  // namespace dutiful
