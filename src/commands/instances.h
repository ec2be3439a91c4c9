// What a daemon writes down beside its state, so that the next one can find what it left.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "commands/processes.h"
#include "posix/descriptor.h"

namespace dutiful {

// A command that was started: the leader of a session, born between these two.
struct StartedCommand {
  pid_t process = 0;
  Ticks not_before = 0;
  Ticks not_after = 0;
  // It is gone, and what it has left of its session was born between them.
  bool has_ended = false;
};

// A daemon that worked on the state and did not end as it should have.
struct Instance {
  std::string name{};   // random; all its commands carry it in their environment
  std::string space{};  // process_space(); in another one the numbers below say nothing
  pid_t process = 0;
  Ticks start = 0;
  Ticks alive_until = 0;                   // when it was last known to live
  std::vector<StartedCommand> commands{};  // that it had not seen the end of
};

// Where a command is written down, by itself, just before it becomes another program: whoever runs
// can be found. A line of the file, of which its process and the instant are still to be filled in.
struct CommandLine {
  static constexpr std::size_t process_at = 1;
  static constexpr std::size_t process_width = 10;
  static constexpr std::size_t not_after_at = 33;
  static constexpr std::size_t ticks_width = 20;
  static constexpr std::size_t size = 54;

  // Right-aligned. Calls nothing: the child shares its memory with the daemon.
  __attribute__((no_sanitize("address", "thread", "undefined"))) void put(std::size_t at,
                                                                          std::size_t width,
                                                                          std::int64_t number) {
    const std::size_t last = at + width - 1;
    for (std::size_t i = last; i + 1 > at; --i, number /= 10) {
      text[i] = number > 0 || i == last ? static_cast<char>('0' + number % 10) : ' ';
    }
  }

  int file = -1;  // none: it is not written down
  std::int64_t place = 0;
  std::int64_t tick_length = 1;
  char text[size] = {};  // NOLINT(modernize-avoid-c-arrays): as plain as can be
};

// The daemons that have not ended well, and their commands, in the file `<state>-commands`:
//
//   NAME BOOT,NAMESPACE PROCESS START   a daemon
//   @PROCESS NOT_BEFORE NOT_AFTER       a command of it; process 0: a line to be used again
//   !PROCESS NOT_BEFORE NOT_AFTER       one that has ended, with processes that do not die
//
// No other daemon's commands can be mistaken for theirs, and what the commands of a daemon that
// ended well left behind on purpose is left alone. A page cache outlives a killed daemon, and
// nothing outlives a host, so nothing is forced to the disk.
//
// To be used only by whoever owns the state, and by one thread at a time.
class Instances {
 public:
  // The state is what its links lead to: the file beside it is never reached through one.
  explicit Instances(std::string state) : state_(std::move(state)), path_(state_ + "-commands") {}

  // Enters a name, and returns those that are there already. Throws where one of those lives, and
  // where something was interrupted, and the file does not say by whose death. A file from before
  // this start of the host may say nothing, for the commands did not outlive that. Throws
  // StoreError where the file cannot be read, and leaves it as it is then, or cannot be written;
  // also where it, or the one that takes its place, is a link or belongs to another user: whoever
  // writes to it names processes that are killed. An older daemon may have made one that others
  // could write to: its commands are not believed, only the names, which processes carry
  // themselves.
  std::vector<Instance> enter(const std::string& name, bool was_interrupted = false);
  // Only this one is left: the processes of the others are gone. From now on commands can be added.
  // Throws StoreError.
  void keep_only(const std::string& name);
  // Nothing is left. Throws std::system_error.
  void clear();

  // A line for a command that is to be started now. Throws where the file is not there any more.
  [[nodiscard]] CommandLine add();
  // The command has ended.
  void remove(const CommandLine& line) noexcept;
  // It has ended, and left processes of its session that do not die.
  static void keep(const CommandLine& line, pid_t process) noexcept;

 private:
  [[noreturn]] void refuse(const std::string& reason) const;
  [[nodiscard]] Contents read() const;
  void write(std::string_view text) const;

  std::string state_;
  std::string path_;
  Descriptor file_;
  std::int64_t lines_begin_ = 0;
  std::size_t lines_count_ = 0;
  std::vector<std::int64_t> free_;  // places; has room for all
};

}  // namespace dutiful
