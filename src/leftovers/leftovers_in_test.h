// What the tests of leftovers share.
#pragma once

#include <array>
#include <csignal>

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "leftovers/daemon_journal.h"
#include "leftovers/processes.h"
#include "posix/descriptor.h"
#include "posix/random_name.h"

namespace dutiful {

// A process without an environment, in a session whose leader has ended.
class Abandoned {
 public:
  Abandoned() {
    std::array<int, 2> pipe_ends{};
    EXPECT_EQ(pipe(pipe_ends.data()), 0);
    const Descriptor read_end{pipe_ends[0]};
    const Descriptor write_end{pipe_ends[1]};
    session = fork();
    if (session == 0) {
      setsid();
      member = fork();
      if (member == 0)
        execle("/bin/sleep", "sleep", "1000", nullptr, std::array<char*, 1>{}.data());
      _exit(write(write_end.get(), &member, sizeof member) == sizeof member ? 0 : 1);
    }
    EXPECT_EQ(read(read_end.get(), &member, sizeof member), static_cast<ssize_t>(sizeof member));
    EXPECT_EQ(waitpid(session, nullptr, 0), session);
    handle = Descriptor{static_cast<int>(syscall(SYS_pidfd_open, member, 0))};
    born = find_process(member).value().start;
  }
  ~Abandoned() { syscall(SYS_pidfd_send_signal, handle.get(), SIGKILL, nullptr, 0); }
  Abandoned(const Abandoned&) = delete;
  Abandoned& operator=(const Abandoned&) = delete;

  // A daemon that has the session's leader in its journal.
  [[nodiscard]] PreviousDaemon daemon_that_lived_until(Ticks tick) const {
    return {.name = random_name(),
            .space = process_space(),
            .alive_until = tick,
            .commands = {{.process = session, .not_before = 0, .not_after = 0}}};
  }

  pid_t session = 0;
  pid_t member = 0;
  Descriptor handle;
  Ticks born = 0;
};

}  // namespace dutiful
