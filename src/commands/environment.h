// What a command finds in its environment.
#pragma once

#include <map>
#include <string>

#include <dutiful/run.h>

#include "commands/command.h"

namespace dutiful {

using Environment = std::map<std::string, std::string>;

// The variables by which the processes of one daemon, and those of one run, are known after its
// death (leftovers.h).
inline constexpr const char* instance_variable = "DUTIFUL_INSTANCE";
inline constexpr const char* fence_variable = "DUTIFUL_FENCE";

// The daemon's own environment, without what is meant for the daemon alone.
[[nodiscard]] Environment daemon_environment();

// That of a run: the daemon's, then the command's, then
//
//   DUTIFUL_TASK     its name
//   DUTIFUL_PULSE    the instant it was due, ISO 8601
//   DUTIFUL_ATTEMPT  1, 2, …
//   DUTIFUL_REASON   cron, retry, orphan or boot
//   DUTIFUL_KEY      the same for every attempt at the same work, and for nothing else (RULES P8)
//   DUTIFUL_FENCE    a number that grows with every start of the task, for ever
[[nodiscard]] Environment run_environment(const Environment& daemon,
                                          const Command& command,
                                          const RunInfo& run);

}  // namespace dutiful
