// Starts the commands of one daemon: with its environment, and each entered in its journal.
#pragma once

#include <string>

#include "commands/beside.h"
#include "commands/command.h"
#include "commands/environment.h"
#include "commands/running_commands.h"
#include "commands/spawn.h"
#include "commands/user_account.h"

namespace dutiful {

class DaemonJournal;

// For one thread at a time.
class CommandStarter {
 public:
  struct Options {
    std::string instance{};            // the name of the daemon, if its processes carry one
    DaemonJournal* journal = nullptr;  // must outlive this
  };
  // Throws std::system_error.
  explicit CommandStarter(const Options& options);

  // Sets the command's child and its line in the journal. Throws if it cannot be started, and then
  // neither exists. `prepare` is that of Spawner::spawn(). `beside` is null for the command of a
  // task.
  void start(RunningCommand& running,
             const Command& command,
             const UserAccount* account,
             const Beside* beside,
             const Spawner::Prepare& prepare);

  // The run has ended: updates the command's line in the journal.
  void record_end(const RunningCommand& running) noexcept;

 private:
  DaemonJournal* const journal_;
  Environment environment_;
  Spawner spawner_;
};

}  // namespace dutiful
