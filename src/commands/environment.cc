#include "commands/environment.h"

#include <string_view>

#include <unistd.h>

#include "leftovers/marks.h"
#include "time/iso8601.h"

namespace dutiful {

Environment daemon_environment() {
  Environment variables;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text{*entry};
    const auto equals = text.find('=');
    if (equals == std::string_view::npos) continue;
    variables.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  // A command that spoke to systemd would speak for the daemon.
  for (const char* name : {"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID", instance_variable}) {
    variables.erase(name);
  }
  return variables;
}

Environment run_environment(const Environment& daemon, const Command& command, const RunInfo& run) {
  Environment variables = daemon;
  for (const auto& [name, value] : command.environment) {
    // By that the next daemon finds what this one left.
    if (name != instance_variable) variables[name] = value;
  }
  variables["DUTIFUL_TASK"] = run.task;
  variables["DUTIFUL_PULSE"] = format_utc(run.pulse);
  variables["DUTIFUL_ATTEMPT"] = std::to_string(run.attempt);
  variables["DUTIFUL_REASON"] = name_of(run.reason);
  variables["DUTIFUL_KEY"] = run.key();
  variables[fence_variable] = std::to_string(run.fence);
  return variables;
}

}  // namespace dutiful
