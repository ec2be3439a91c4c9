#include "daemon/supervisor.h"

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string_view>

#include <sys/socket.h>
#include <sys/un.h>

#include "posix/descriptor.h"

namespace dutiful {
namespace {

std::optional<long> number_of(const char* variable) {
  const char* text = std::getenv(variable);
  if (text == nullptr) return std::nullopt;
  long number = 0;
  const char* end = text + std::strlen(text);
  const auto [rest, error] = std::from_chars(text, end, number);
  if (error != std::errc{} || rest != end || number <= 0) return std::nullopt;
  return number;
}

}  // namespace

Supervisor::Supervisor() {
  if (const char* socket = std::getenv("NOTIFY_SOCKET")) socket_ = socket;
  const auto interval = number_of("WATCHDOG_USEC");
  if (interval && number_of("WATCHDOG_PID").value_or(getpid()) == getpid()) {
    // Half the interval, as systemd recommends.
    alive_every_ = std::chrono::ceil<Duration>(std::chrono::microseconds{*interval / 2});
  }
}

void Supervisor::ready() {
  notify("READY=1");
}

void Supervisor::reloading() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  const auto time = std::chrono::seconds{now.tv_sec} + std::chrono::nanoseconds{now.tv_nsec};
  const auto microseconds = std::chrono::floor<std::chrono::microseconds>(time).count();
  notify("RELOADING=1\nMONOTONIC_USEC=" + std::to_string(microseconds));
}

void Supervisor::stopping() {
  notify("STOPPING=1");
}

void Supervisor::alive() {
  notify("WATCHDOG=1");
}

void Supervisor::notify(const std::string& message) const {
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  if (socket_.empty() || socket_.size() >= sizeof address.sun_path) return;
  socket_.copy(address.sun_path, socket_.size());
  if (socket_.front() == '@') address.sun_path[0] = '\0';  // an abstract socket
  const Descriptor descriptor{socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + socket_.size());
  // Best effort: a failure to notify is ignored.
  (void)sendto(descriptor.get(),
               message.data(),
               message.size(),
               MSG_NOSIGNAL,
               reinterpret_cast<const sockaddr*>(&address),
               size);
}

}  // namespace dutiful
