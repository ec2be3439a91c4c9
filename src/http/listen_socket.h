// A socket that listens.
#pragma once

#include <optional>

#include "http/address.h"
#include "posix/descriptor.h"
#include "posix/file_identity.h"

namespace dutiful::http {

// Listens as long as it lives.
//
// A Unix socket has mode 0660, whatever the umask is. One that a dead process left behind is
// replaced; a socket on which a process listens, a socket of another user and any other file are
// refused. The destructor removes the socket, unless another has taken its place.
class ListenSocket {
 public:
  // Throws std::system_error or FileError; the message names the address and the remedy.
  explicit ListenSocket(const ListenAddress& address);
  ~ListenSocket();
  ListenSocket(ListenSocket&& other) noexcept;
  ListenSocket& operator=(ListenSocket&&) = delete;

  [[nodiscard]] int descriptor() const noexcept { return descriptor_.get(); }
  // With the port that was chosen.
  [[nodiscard]] const ListenAddress& address() const noexcept { return address_; }

 private:
  void listen_at_port();
  void listen_at_path();

  ListenAddress address_;
  Descriptor descriptor_;
  std::optional<FileIdentity> file_;  // of a Unix socket
};

}  // namespace dutiful::http
