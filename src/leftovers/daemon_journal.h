// What a daemon writes down beside its state, so that the next daemon finds its leftovers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "leftovers/journal_line.h"
#include "leftovers/processes.h"
#include "posix/descriptor.h"

namespace dutiful {

// A command in the journal: the leader of a session, born between these two ticks.
struct StartedCommand {
  pid_t process = 0;
  Ticks not_before = 0;
  Ticks not_after = 0;
  // The command itself has ended. The processes left of its session were born between the two.
  bool has_ended = false;
};

// A daemon in the journal: it used the state, and did not stop cleanly.
struct PreviousDaemon {
  std::string name{};   // random; its commands carry it in their environment
  std::string space{};  // process_space(); in any other, the numbers below mean nothing
  pid_t process = 0;
  Ticks start = 0;
  Ticks alive_until = 0;                   // when it is last known to have lived
  std::vector<StartedCommand> commands{};  // those whose end it did not record
};

// The daemons that did not stop cleanly, and their commands, in the file `<state>-commands`:
//
//   NAME BOOT,NAMESPACE PROCESS START   a daemon
//   @PROCESS NOT_BEFORE NOT_AFTER       a command of that daemon; process 0: a line to be reused
//   !PROCESS NOT_BEFORE NOT_AFTER       a command that has ended, with processes that do not die
//
// The commands of another daemon are never mistaken for theirs, and processes that commands of a
// cleanly stopped daemon left behind on purpose are left alone. The page cache outlives a killed
// daemon, and no process outlives the host, so the file is never synced to the disk.
//
// Only the holder of the state may use it, from one thread at a time.
class DaemonJournal {
 public:
  // The path of the state with all links resolved: the journal is never reached through a link.
  explicit DaemonJournal(std::string state)
      : state_(std::move(state)), path_(state_ + "-commands") {}

  // Enters a name, and returns the daemons that the journal already has.
  //
  // Throws std::runtime_error if one of them still lives.
  //
  // Throws StoreError if the file cannot be read, and leaves it unchanged; if a run was interrupted
  // and the file names no daemon that could have run it, except for a file from before this boot of
  // the host, because the commands of that time no longer exist; if it cannot be written; and if
  // the file, or the one that replaces it, is a link or belongs to another user, because whoever
  // writes the journal decides which processes are killed. If an older daemon made it writable by
  // others, only its names are used, which processes carry themselves, and none of its commands.
  std::vector<PreviousDaemon> enter(const std::string& name, bool was_interrupted = false);
  // Removes all other daemons, whose processes no longer exist. Commands can be added from now on.
  // Throws StoreError.
  void keep_only(const std::string& name);
  // Removes the journal. Throws std::system_error.
  void clear();

  // A line for a command that is started next. Throws std::runtime_error if the file was removed or
  // replaced.
  [[nodiscard]] JournalLine add();
  // The command has ended.
  void remove(const JournalLine& line) noexcept;
  // The command has ended, and processes of its session do not die.
  static void keep(const JournalLine& line, pid_t process) noexcept;

 private:
  [[noreturn]] void refuse(const std::string& reason) const;
  void require_a_name(const std::vector<PreviousDaemon>& daemons) const;
  [[nodiscard]] Contents read() const;
  void write(std::string_view text) const;

  std::string state_;
  std::string path_;
  Descriptor file_;
  std::int64_t lines_begin_ = 0;
  std::size_t lines_count_ = 0;
  std::vector<std::int64_t> free_;  // places of lines to be reused; has room for all lines
};

}  // namespace dutiful
