// Starts a command as a process of its own.
#pragma once

#include <functional>
#include <stdexcept>

#include <sys/resource.h>
#include <sys/types.h>

#include "commands/account.h"
#include "commands/command.h"
#include "commands/environment.h"
#include "commands/instances.h"
#include "posix/descriptor.h"

namespace dutiful {

// Why a command could not be started, in words for its owner.
class SpawnError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct Child {
  pid_t process = -1;   // leads a session and a process group of its own
  Descriptor output{};  // what it writes, standard output and errors in one; does not block
};

// Gives /dev/null to those of the three that the process was started without: what it opens next
// would take their numbers, and be taken for them. So this comes before anything is opened. Throws
// std::system_error.
void fill_standard_descriptors();

// The child has no terminal, /dev/null for its input, no descriptor but the three, no signal
// blocked or ignored, and the limit of descriptors that the daemon was started with.
//
// One clone() that shares the memory until the exec, as posix_spawn() has it: its cost does not
// grow with the daemon. posix_spawn() itself cannot change the user, and does not tell which step
// failed.
class Spawner {
 public:
  // Raises the daemon's own limit of descriptors as far as it may. Throws std::system_error.
  Spawner();
  ~Spawner();
  Spawner(const Spawner&) = delete;
  Spawner& operator=(const Spawner&) = delete;

  // Throws SpawnError. For one thread at a time. The child writes itself down before it can do
  // anything: not one that runs is missing there, whenever the daemon is killed. Its user is looked
  // up unless the account is given. What has to be ready for the output is made so by `prepare`,
  // before there is a process: nothing is started if it throws.
  using Prepare = std::function<void(int output)>;
  [[nodiscard]] Child spawn(const Command& command,
                            Environment environment,
                            const CommandLine& line = {},
                            const Account* account = nullptr,
                            const Prepare& prepare = {});

 private:
  Descriptor null_;
  void* stack_;
  rlimit limit_{};  // of descriptors, as the daemon found it
};

}  // namespace dutiful
