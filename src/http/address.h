// An address to listen on, as `--listen` has it.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace dutiful::http {

// The message names the value and the remedy.
class InvalidListenAddress : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct ListenAddress {
  enum class Family : std::uint8_t { ipv4, ipv6, unix_socket };

  Family family = Family::ipv4;
  std::string host = "127.0.0.1";  // an IP address without brackets, or the path of a socket
  std::uint16_t port = 0;          // 0: the kernel chooses one

  // Other machines can reach it, so requests must carry a token.
  [[nodiscard]] bool needs_token() const;
  // As parse_listen_address() reads it: "127.0.0.1:8470", "[::1]:8470", "unix:/run/dutiful.sock".
  [[nodiscard]] std::string to_string() const;

  friend bool operator==(const ListenAddress&, const ListenAddress&) = default;
};

// Reads an address. Names are not looked up, except for "localhost".
//
//   127.0.0.1:8470           this address
//   [::1]:8470               this address
//   localhost:8470, 8470     127.0.0.1:8470. Not [::1], which may be listened on as well.
//   0.0.0.0:8470             every IPv4 address: needs_token()
//   unix:/run/dutiful.sock   a socket of this name, mode 0660
//
// Throws InvalidListenAddress.
[[nodiscard]] ListenAddress parse_listen_address(std::string_view text);

}  // namespace dutiful::http
