// Starts a command as a process.
#pragma once

#include <functional>
#include <stdexcept>

#include <sys/resource.h>
#include <sys/types.h>

#include "commands/command.h"
#include "commands/environment.h"
#include "commands/user_account.h"
#include "leftovers/journal_line.h"
#include "posix/descriptor.h"

namespace dutiful {

// Why a command could not be started, for the owner of the task.
class SpawnError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct Child {
  pid_t process = -1;   // leads its own session and process group
  Descriptor output{};  // standard output and error in one pipe; reading does not block
};

// Opens /dev/null for those of the three standard descriptors that the process was started without.
// Otherwise the next files that it opens would get their numbers, and be used in their place. To be
// called before anything is opened. Throws std::system_error.
void fill_standard_descriptors();

// The child has no terminal, /dev/null as its input unless it is given one, no descriptors but the
// standard three, no signal blocked or ignored, and the limit of descriptors that the daemon was
// started with.
//
// One clone() that shares the memory until the exec, as in posix_spawn(), so its cost does not grow
// with the daemon. posix_spawn() itself cannot change the user, and does not report which step
// failed.
class Spawner {
 public:
  // Raises the daemon's own limit of descriptors as far as allowed. Throws std::system_error.
  Spawner();
  ~Spawner();
  Spawner(const Spawner&) = delete;
  Spawner& operator=(const Spawner&) = delete;

  // Throws SpawnError. For one thread at a time.
  //
  // The child enters itself in the journal before it does anything else, so the journal has every
  // command that runs, whenever the daemon is killed. The user is looked up unless the account is
  // given. `prepare` gets the output before there is a process; if it throws, nothing is started.
  // `input` is an open descriptor, or -1 for /dev/null.
  using Prepare = std::function<void(int output)>;
  [[nodiscard]] Child spawn(const Command& command,
                            Environment environment,
                            const JournalLine& line = {},
                            const UserAccount* account = nullptr,
                            const Prepare& prepare = {},
                            int input = -1);

 private:
  Descriptor null_;
  void* stack_;
  rlimit limit_{};  // of descriptors, as the daemon was started with it
};

}  // namespace dutiful
