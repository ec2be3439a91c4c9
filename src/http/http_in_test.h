// A client that can misbehave, for tests of the HTTP server.
#pragma once

#include <cerrno>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "http/address.h"
#include "posix/descriptor.h"

namespace dutiful::http {

// A connection to a server. Reads block, so that tests wait for what happens.
class Client {
 public:
  enum class Buffers : bool { usual, small };
  // `from` is the IPv4 address of the client; empty: the kernel chooses one.
  explicit Client(const ListenAddress& address,
                  Buffers buffers = Buffers::usual,
                  const std::string& from = {}) {
    const bool is_unix = address.family == ListenAddress::Family::unix_socket;
    const bool is_ipv6 = address.family == ListenAddress::Family::ipv6;
    socket_ = Descriptor{socket(is_unix   ? AF_UNIX
                                : is_ipv6 ? AF_INET6
                                          : AF_INET,
                                SOCK_STREAM | SOCK_CLOEXEC,
                                0)};
    const int small = 4096;
    if (buffers == Buffers::small) {
      setsockopt(socket_.get(), SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
    }
    if (!from.empty()) {
      sockaddr_in own{};
      own.sin_family = AF_INET;
      inet_pton(AF_INET, from.c_str(), &own.sin_addr);
      if (bind(socket_.get(), reinterpret_cast<sockaddr*>(&own), sizeof own) != 0) {
        throw std::runtime_error("cannot connect from " + from);
      }
    }
    int result = -1;
    if (is_unix) {
      sockaddr_un to{};
      to.sun_family = AF_UNIX;
      address.host.copy(static_cast<char*>(to.sun_path), sizeof to.sun_path - 1);
      result = connect(socket_.get(), reinterpret_cast<sockaddr*>(&to), sizeof to);
    } else if (is_ipv6) {
      sockaddr_in6 to{};
      to.sin6_family = AF_INET6;
      to.sin6_port = htons(address.port);
      inet_pton(AF_INET6, address.host.c_str(), &to.sin6_addr);
      result = connect(socket_.get(), reinterpret_cast<sockaddr*>(&to), sizeof to);
    } else {
      sockaddr_in to{};
      to.sin_family = AF_INET;
      to.sin_port = htons(address.port);
      inet_pton(AF_INET, address.host.c_str(), &to.sin_addr);
      result = connect(socket_.get(), reinterpret_cast<sockaddr*>(&to), sizeof to);
    }
    if (result != 0) throw std::runtime_error("cannot connect to " + address.to_string());
  }

  // Returns false if the server has closed the connection.
  bool send(std::string_view text) const {
    while (!text.empty()) {
      const ssize_t sent = ::send(socket_.get(), text.data(), text.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      text.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }
  void get(const std::string& target, const std::string& headers = {}) const {
    send("GET " + target + " HTTP/1.1\r\nHost: localhost\r\n" + headers + "\r\n");
  }

  // Reads more. Returns false at the end of the connection.
  bool read_more() {
    char part[4096];
    const ssize_t size = read(socket_.get(), part, sizeof part);
    if (size <= 0) return false;
    text_.append(part, static_cast<std::size_t>(size));
    return true;
  }
  // Reads until the text contains this. Returns false if the connection ends before.
  bool read_until(std::string_view wanted) {
    while (text_.find(wanted) == std::string::npos) {
      if (!read_more()) return false;
    }
    return true;
  }
  // Everything up to the end of the connection.
  std::string read_all() {
    while (read_more()) {
    }
    return text_;
  }
  // One response with a Content-Length; removes it from the text.
  std::string read_response() {
    if (!read_until("\r\n\r\n")) return std::exchange(text_, {});
    const std::size_t header_end = text_.find("\r\n\r\n") + 4;
    const std::size_t at = text_.find("Content-Length: ");
    std::size_t size = header_end;
    if (at < header_end) size += std::stoul(text_.substr(at + 16));
    while (text_.size() < size && read_more()) {
    }
    std::string response = text_.substr(0, size);
    text_.erase(0, size);
    return response;
  }

  [[nodiscard]] const std::string& text() const { return text_; }
  void clear() { text_.clear(); }
  void close() { socket_.reset(); }
  [[nodiscard]] int descriptor() const { return socket_.get(); }

 private:
  Descriptor socket_;
  std::string text_;
};

}  // namespace dutiful::http
