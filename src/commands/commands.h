// Runs commands for a scheduler: thousands at a time, on one thread.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <dutiful/run.h>

#include "commands/command.h"
#include "commands/command_result.h"
#include "commands/user_account.h"

namespace dutiful {

class DaemonJournal;

struct CommandOptions {
  std::string instance{};            // marks every process of ours (leftovers.h)
  DaemonJournal* journal = nullptr;  // that they are entered in; must outlive this
  Duration kill_grace{10'000};       // between SIGTERM and SIGKILL
  Duration death_max{5'000};         // how long a killed group may take to be gone
  std::size_t output_max = 8192;     // bytes of its output that a result keeps
  // All are called by the one thread that serves all, and should be quick. What they throw is
  // ignored.
  std::function<void(const RunInfo&, std::string_view)> on_output{};  // everything, as it comes
  std::function<void(CommandResult)> on_end{};                        // before the run is settled
  std::function<void(const RunInfo&)> on_output_end{};  // of what a run has left in the background
};

// A command has succeeded when it exits with 0. Its run ends with it, whatever it leaves behind;
// what it wrote until then is read, and it never waits for a reader. What it left in the background
// is read on, so that it is not killed when it writes, as long as this lives; of the pipes that are
// kept open for it there is a bound (lingering_output.h).
//
// A run that is asked to stop (RULES X2) gets SIGTERM, and SIGKILL after a grace; both go to the
// whole process group, and the run ends when the group is gone, so that what it left does not go on
// beside the next. The exception are processes that even SIGKILL does not end, as they wait for a
// disk that does not answer: where the command itself is gone, the rest of its group is waited for
// no longer than `death_max`.
//
// Takes the ends of all children of the process, also of those that it inherits from commands that
// have ended: nobody else may wait for a child. It hears of them only where no thread lets SIGCHLD
// through, so each thread that there is already must block it; this one then does too, and what it
// starts from now on.
class Commands {
 public:
  // Throws std::system_error.
  explicit Commands(CommandOptions options);
  // Ends what still runs, by SIGKILL.
  ~Commands();
  Commands(const Commands&) = delete;
  Commands& operator=(const Commands&) = delete;

  // What a registration needs. Must not be called any more once this is destroyed.
  // The command's user, if it has one, is looked up at each start unless it is given.
  [[nodiscard]] Callback callback(Command command,
                                  std::shared_ptr<const UserAccount> account = nullptr);

  // Until then runs are taken, but nothing is started.
  void open();

  // Asks everything that runs to stop, and lets what has not been started fail.
  void end_all();

  // Whether there are any that run, or wait to.
  [[nodiscard]] bool are_any() const;

  // Whether a group is still there that was not waited for any longer.
  [[nodiscard]] bool has_leftovers() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace dutiful
