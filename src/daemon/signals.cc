#include "daemon/signals.h"

#include <cerrno>
#include <csignal>
#include <system_error>

#include <sys/signalfd.h>

namespace dutiful {

namespace {

sigset_t operator_signals() {
  sigset_t taken;
  sigemptyset(&taken);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&taken, signal);
  return taken;
}

}  // namespace

void block_operator_signals() {
  const sigset_t taken = operator_signals();
  pthread_sigmask(SIG_BLOCK, &taken, nullptr);
}

Signals::Signals() {
  sigset_t taken = operator_signals();
  descriptor_ = Descriptor{signalfd(-1, &taken, SFD_CLOEXEC | SFD_NONBLOCK)};
  if (!descriptor_.is_open()) throw std::system_error(errno, std::generic_category(), "signalfd");
  sigaddset(&taken, SIGCHLD);
  pthread_sigmask(SIG_BLOCK, &taken, nullptr);
  // At the limit on file sizes, a write fails instead of killing the daemon.
  (void)std::signal(SIGXFSZ, SIG_IGN);
  // The parent may have ignored SIGCHLD, and the kernel would then discard how children end.
  (void)std::signal(SIGCHLD, SIG_DFL);
}

std::optional<int> Signals::take() {
  signalfd_siginfo signal{};
  if (read(descriptor_.get(), &signal, sizeof signal) != sizeof signal) return std::nullopt;
  return static_cast<int>(signal.ssi_signo);
}

}  // namespace dutiful
