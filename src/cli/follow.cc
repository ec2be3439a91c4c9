#include "cli/follow.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <system_error>

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

namespace dutiful {
namespace {

// Short for a person, and long for a process that looks at two files each time.
constexpr int moment_ms = 200;

}  // namespace

Follow::Follow() {
  sigset_t ends;
  sigemptyset(&ends);
  for (const int signal : {SIGINT, SIGTERM}) sigaddset(&ends, signal);
  pthread_sigmask(SIG_BLOCK, &ends, nullptr);
  signals_ = Descriptor{signalfd(-1, &ends, SFD_CLOEXEC | SFD_NONBLOCK)};
  if (!signals_.is_open()) throw std::system_error(errno, std::generic_category(), "signalfd");
}

bool Follow::wait() const {
  // Without an event to wait for, poll() still reports that the reader of a pipe has closed it.
  std::array<pollfd, 2> watched{pollfd{.fd = signals_.get(), .events = POLLIN, .revents = 0},
                                pollfd{.fd = STDOUT_FILENO, .events = 0, .revents = 0}};
  return poll(watched.data(), watched.size(), moment_ms) <= 0;
}

}  // namespace dutiful
