// The environment of a command.
#pragma once

#include <map>
#include <string>

#include <dutiful/run.h>

#include "commands/command.h"

namespace dutiful {

using Environment = std::map<std::string, std::string>;

// The environment of the daemon, without the variables that are meant only for the daemon.
[[nodiscard]] Environment daemon_environment();

// The environment of a run: the variables of the daemon, then those of the command, then
//
//   DUTIFUL_TASK     the name of the task
//   DUTIFUL_PULSE    the instant at which it was due, in ISO 8601
//   DUTIFUL_ATTEMPT  1, 2, …
//   DUTIFUL_REASON   cron, retry, orphan or boot
//   DUTIFUL_KEY      the same for all attempts at the same work, and for no other (RULES P8)
//   DUTIFUL_FENCE    a number that grows with every start of the task
[[nodiscard]] Environment run_environment(const Environment& daemon,
                                          const Command& command,
                                          const RunInfo& run);

}  // namespace dutiful
