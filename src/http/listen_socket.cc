#include "http/listen_socket.h"

#include <cerrno>
#include <cstring>
#include <string>
#include <system_error>
#include <utility>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "files/private_file.h"
#include "sync/try_again.h"
#include "text/quote.h"

namespace dutiful::http {
namespace {

constexpr mode_t socket_mode = S_IRUSR | S_IWUSR | S_IRGRP | S_IWGRP;

// As much of the addresses of every family as bind() needs.
union AnyAddress {
  sockaddr any;
  sockaddr_in ipv4;
  sockaddr_in6 ipv6;
  sockaddr_un unix_socket;
};

std::string remedy(int error, const ListenAddress& address) {
  switch (error) {
    case EADDRINUSE:
      return "; choose another port, or find the program that listens there with: ss -ltnp";
    case EACCES:
      return address.port < 1024 ? "; choose a port above 1023" : "";
    case EADDRNOTAVAIL:
      return "; this host does not have that address";
    default:
      return "";
  }
}

// The remedy is the end of the message, after what went wrong.
class ListenError : public std::system_error {
 public:
  ListenError(int error, const ListenAddress& address)
      : std::system_error(
            error, std::generic_category(), "cannot listen on " + address.to_string()),
        message_(std::system_error::what() + remedy(error, address)) {}

  [[nodiscard]] const char* what() const noexcept override { return message_.c_str(); }

 private:
  std::string message_;
};

[[noreturn]] void fail(const ListenAddress& address, int error) {
  throw ListenError(error, address);
}

Descriptor open_socket(const ListenAddress& address, int family) {
  Descriptor descriptor{socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
  if (!descriptor.is_open()) fail(address, errno);
  return descriptor;
}

sockaddr_un unix_address(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(static_cast<char*>(address.sun_path), path.c_str(), path.size() + 1);
  return address;
}

// Holds a lock on the directory, so that two processes do not both replace a socket that a dead
// one left behind.
Descriptor lock_directory_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::string directory = slash == 0 ? "/" : path.substr(0, slash);
  Descriptor descriptor{open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (!descriptor.is_open()) {
    throw FileError(path,
                    "cannot be made: the directory " + quote(directory) +
                        " cannot be opened: " + std::strerror(errno));
  }
  if (!try_for_a_second([&] { return flock(descriptor.get(), LOCK_EX | LOCK_NB) == 0; })) {
    throw FileError(path,
                    "cannot be made: another process keeps the directory " + quote(directory) +
                        " locked; try again");
  }
  return descriptor;
}

// Whether a process listens on the socket.
bool is_live(const std::string& path, const sockaddr_un& address) {
  const Descriptor client{socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
  if (!client.is_open()) {
    throw FileError(path, std::string{"cannot be checked: "} + std::strerror(errno));
  }
  const auto* any = reinterpret_cast<const sockaddr*>(&address);
  // EAGAIN: its queue is full.
  return connect(client.get(), any, sizeof address) == 0 || errno != ECONNREFUSED;
}

// Removes the socket of a dead process. Throws if something else is there.
void remove_stale(const std::string& path, const sockaddr_un& address) {
  struct stat status {};
  if (lstat(path.c_str(), &status) != 0) {
    if (errno == ENOENT) return;
    throw FileError(path, std::string{"cannot be inspected: "} + std::strerror(errno));
  }
  if (!S_ISSOCK(status.st_mode)) {
    throw FileError(path, "exists and is not a socket; remove it, or choose another path");
  }
  if (status.st_uid != geteuid()) {
    const std::string owner = user_name(status.st_uid);
    throw FileRefused(path,
                      "is a socket of " + owner + "; remove it, or choose another path",
                      "the socket belongs to another user",
                      owner);
  }
  if (is_live(path, address)) {
    throw FileError(path,
                    "is in use: another process listens on it; stop that process, or choose "
                    "another path");
  }
  if (unlink(path.c_str()) != 0 && errno != ENOENT) {
    throw FileError(path,
                    std::string{"was left behind and cannot be removed: "} + std::strerror(errno));
  }
}

}  // namespace

ListenSocket::ListenSocket(const ListenAddress& address) : address_(address) {
  if (address.family == ListenAddress::Family::unix_socket) {
    listen_at_path();
  } else {
    listen_at_port();
  }
}

ListenSocket::ListenSocket(ListenSocket&& other) noexcept
    : address_(std::move(other.address_)),
      descriptor_(std::move(other.descriptor_)),
      file_(std::exchange(other.file_, {})) {}

ListenSocket::~ListenSocket() {
  if (!file_) return;
  try {
    // Nobody may replace it between the comparison and the removal.
    const Descriptor directory = lock_directory_of(address_.host);
    if (identity_of(address_.host) == file_) unlink(address_.host.c_str());
  } catch (const std::exception&) {  // best effort: the next daemon replaces it
    return;
  }
}

void ListenSocket::listen_at_port() {
  AnyAddress address{};
  socklen_t size = 0;
  const bool is_ipv4 = address_.family == ListenAddress::Family::ipv4;
  if (is_ipv4) {
    address.ipv4.sin_family = AF_INET;
    address.ipv4.sin_port = htons(address_.port);
    inet_pton(AF_INET, address_.host.c_str(), &address.ipv4.sin_addr);
    size = sizeof address.ipv4;
  } else {
    address.ipv6.sin6_family = AF_INET6;
    address.ipv6.sin6_port = htons(address_.port);
    inet_pton(AF_INET6, address_.host.c_str(), &address.ipv6.sin6_addr);
    size = sizeof address.ipv6;
  }
  descriptor_ = open_socket(address_, is_ipv4 ? AF_INET : AF_INET6);
  const int on = 1;
  setsockopt(descriptor_.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (!is_ipv4) setsockopt(descriptor_.get(), IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
  if (bind(descriptor_.get(), &address.any, size) != 0 ||
      listen(descriptor_.get(), SOMAXCONN) != 0 ||
      getsockname(descriptor_.get(), &address.any, &size) != 0) {
    fail(address_, errno);
  }
  address_.port = ntohs(is_ipv4 ? address.ipv4.sin_port : address.ipv6.sin6_port);
}

void ListenSocket::listen_at_path() {
  const std::string& path = address_.host;
  const sockaddr_un address = unix_address(path);
  const Descriptor directory = lock_directory_of(path);
  remove_stale(path, address);
  descriptor_ = open_socket(address_, AF_UNIX);
  // Linux gives the file the mode of the socket, less the umask: it is never wider than intended.
  fchmod(descriptor_.get(), socket_mode);
  if (bind(descriptor_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    throw FileError(path, std::string{"cannot be made: "} + std::strerror(errno));
  }
  file_ = identity_of(path);
  if (fchmodat(AT_FDCWD, path.c_str(), socket_mode, AT_SYMLINK_NOFOLLOW) != 0) {
    const int error = errno;
    unlink(path.c_str());
    throw FileError(path, std::string{"cannot be given mode 0660: "} + std::strerror(error));
  }
  if (listen(descriptor_.get(), SOMAXCONN) != 0) {
    const int error = errno;
    unlink(path.c_str());
    fail(address_, error);
  }
}

}  // namespace dutiful::http
