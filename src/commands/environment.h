// What a command finds in its environment.
#pragma once

#include <map>
#include <string>

#include <dutiful/run.h>

#include "commands/command.h"

namespace dutiful {

using Environment = std::map<std::string, std::string>;

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
