// The commands that run, and how each comes to its end.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <unordered_map>
#include <utility>

#include <sys/resource.h>
#include <sys/types.h>

#include <dutiful/run.h>

#include "commands/command_result.h"
#include "commands/live_count.h"
#include "commands/output_tail.h"
#include "commands/spawn.h"
#include "leftovers/journal_line.h"

namespace dutiful {

// Identifies a command. The kernel reuses the numbers of processes; serials are never reused.
using Serial = std::uint64_t;

struct RunningCommand {
  using Time = std::chrono::steady_clock::time_point;
  static constexpr Time never = Time::max();
  enum class Stage {
    running,
    terminating,  // its group got SIGTERM
    killed,       // its group got SIGKILL
  };

  RunningCommand(Serial number, Run taken, std::size_t output_max, LiveCount::Member member = {})
      : serial(number), run(std::move(taken)), counted(std::move(member)), tail(output_max) {
    result.run = run.info();
  }

  Serial serial;
  Run run;
  LiveCount::Member counted;  // leaves before the run is settled, so it is destroyed before it
  OutputTail tail;
  Child child{};
  JournalLine line{};
  Time begin{};
  bool is_beside = false;  // it is not the command of a task
  Stage stage = Stage::running;
  Time deadline = never;       // of the stage
  bool is_reaped = false;      // the command itself has ended
  bool has_leftovers = false;  // processes of its group did not die in time
  CommandResult result{};
  std::optional<std::stop_callback<std::function<void()>>> on_stop{};
};

// A run ends when its command does. If it was asked to stop, its whole process group gets SIGTERM,
// then SIGKILL after `kill_grace`, and the run ends when the group no longer exists. If the command
// itself has ended, the rest of its group is waited for no longer than `death_max` after SIGKILL.
//
// The current time is an argument. Only the constructor of a Place needs memory. For one thread.
class RunningCommands {
 public:
  using Time = RunningCommand::Time;
  struct Options {
    Duration kill_grace;
    Duration death_max;  // at least a millisecond
    // Gets each command at the end of its run, when it is no longer in the table.
    std::function<void(std::unique_ptr<RunningCommand>)> on_end;
  };
  explicit RunningCommands(Options options);

  // Room for one command. Once its process exists nothing may fail, so the room is made first. It
  // is given back unless a command takes it.
  class Place {
   public:
    Place(RunningCommands& table, Serial serial);
    ~Place();
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

    RunningCommand& take(std::unique_ptr<RunningCommand> command) noexcept;

   private:
    RunningCommands& table_;
    const Serial serial_;
    bool is_taken_ = false;
  };

  [[nodiscard]] bool empty() const noexcept { return commands_.empty(); }
  [[nodiscard]] std::size_t size() const noexcept { return commands_.size(); }
  // Null if it is not in the table.
  [[nodiscard]] RunningCommand* find(Serial serial) noexcept;
  template <typename Visit>
  void for_each(Visit visit) {
    for (auto& [serial, command] : commands_) visit(*command);
  }

  // Asks it to stop at that time, as past its time limit. For a command that just runs.
  void limit(RunningCommand& command, Time deadline) noexcept;
  // Asks it to stop, once.
  void terminate(RunningCommand& command, Time now);
  // Kills every group, and waits for none.
  void kill_all() noexcept;

  // A child of this process has ended, as wait4() says. Ignores one that is no command: a
  // descendant of a command that had lost its parent.
  void on_death(pid_t process, int status, const rusage& usage);
  // Ends the runs whose groups have died since. To be called after on_death(), because the last
  // process of a group may be no command.
  void end_dead_groups();
  // Does what is due by now.
  void enforce_deadlines(Time now);
  // When enforce_deadlines() has to be called next; `never` if it need not.
  [[nodiscard]] Time next_deadline() const noexcept;

 private:
  void enter(RunningCommand::Stage stage, Time deadline, RunningCommand& command) noexcept;
  void end(Serial serial);

  const Options options_;
  std::unordered_map<Serial, std::unique_ptr<RunningCommand>> commands_;
  std::unordered_map<pid_t, Serial> by_process_;  // those that are not reaped
  // Of all; `never` while a command just runs and has no limit.
  std::set<std::pair<Time, Serial>> deadlines_;
};

// Whether no process of the group exists.
[[nodiscard]] bool is_group_gone(pid_t group) noexcept;

}  // namespace dutiful
