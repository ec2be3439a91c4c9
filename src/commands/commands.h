// Runs commands for a scheduler: thousands at a time, on one thread.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <dutiful/run.h>

#include "commands/beside.h"
#include "commands/command.h"
#include "commands/command_result.h"
#include "commands/user_account.h"

namespace dutiful {

class DaemonJournal;

struct CommandOptions {
  std::string instance{};            // the mark of every process (leftovers/marks.h)
  DaemonJournal* journal = nullptr;  // has an entry for every command; must outlive this
  Duration kill_grace{10'000};       // between SIGTERM and SIGKILL
  Duration death_max{5'000};         // how long a killed process group may take to die
  std::size_t output_max = 8192;     // bytes of output in a result
  // The thread that serves all commands calls these, so they should return quickly. Exceptions are
  // ignored, except that the run is lost if on_end throws.
  std::function<void(const RunInfo&, std::string_view)> on_output{};  // all output, as it arrives
  std::function<void(CommandResult)> on_end{};                        // before the run is settled
  // A run of a task has no on_end, because memory ran out. Called by any thread; must not throw.
  std::function<void()> on_lost{};
  std::function<void(const RunInfo&)> on_output_end{};  // of processes in the background
};

// A command succeeds if it exits with status 0. Its run ends with it, even if it leaves processes
// behind. Its output up to then is read, and it never waits for a reader. The output of processes
// that it left in the background is read as long as this object lives, so that SIGPIPE does not
// kill them; the number of pipes kept open for that is limited (lingering_output.h).
//
// A run that is asked to stop (RULES X2) gets SIGTERM, and SIGKILL after a grace. Both go to the
// whole process group, and the run ends when the group no longer exists, so that none of its
// processes continues beside the next run. Even SIGKILL does not end a process that waits for a
// disk that does not respond: once the command itself has ended, the rest of its group is waited
// for no longer than `death_max`.
//
// Reaps all children of the process, including those that it inherits from commands that have
// ended, so nobody else may wait for a child. It needs SIGCHLD to be blocked in every thread:
// threads that already exist must block it; the constructor blocks it in its thread, and so in the
// threads that this one starts later.
class Commands {
 public:
  // Throws std::system_error.
  explicit Commands(CommandOptions options);
  // Kills the commands that still run (SIGKILL).
  ~Commands();
  Commands(const Commands&) = delete;
  Commands& operator=(const Commands&) = delete;

  // The callback for a registration. It must not be called after this object is destroyed. Each
  // start looks up the user of the command, unless the account is given.
  [[nodiscard]] Callback callback(Command command,
                                  std::shared_ptr<const UserAccount> account = nullptr);

  // Runs a command beside the tasks, from any thread. Its `run` is not one of a scheduler: it is
  // settled when the command has ended or could not be started. The stop tokens of the run are
  // ignored. Commands of tasks are started first. If memory runs out, throws, and the run fails.
  void run_beside(Run run,
                  Command command,
                  Beside beside,
                  std::shared_ptr<const UserAccount> account = nullptr);

  // Before this, runs are accepted but not started.
  void open();

  // Asks all running commands to stop. Runs that are not started yet fail.
  void end_all();

  // Whether commands run or wait to be started. A command whose run is settled is neither.
  [[nodiscard]] bool are_any() const;

  // Whether a process group still exists that its run did not wait for.
  [[nodiscard]] bool has_leftovers() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace dutiful
