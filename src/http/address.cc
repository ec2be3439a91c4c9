#include "http/address.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <optional>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/un.h>

#include "text/characters.h"
#include "text/quote.h"

namespace dutiful::http {
namespace {

using Family = ListenAddress::Family;

constexpr std::string_view unix_prefix = "unix:";
constexpr std::size_t socket_path_max = sizeof(sockaddr_un::sun_path) - 1;

[[noreturn]] void refuse(std::string_view text, const std::string& reason) {
  throw InvalidListenAddress("invalid listen address " + quote(text) + ": " + reason);
}

[[noreturn]] void refuse_form(std::string_view text) {
  refuse(text,
         "use an IP address and a port (127.0.0.1:8470 or [::1]:8470), a port alone (8470), or a "
         "Unix socket (unix:/run/dutiful.sock)");
}

ListenAddress parse_unix(std::string_view text) {
  const std::string_view path = text.substr(unix_prefix.size());
  if (!path.starts_with('/')) {
    refuse(text, "the path of a socket must be absolute, as in unix:/run/dutiful.sock");
  }
  if (path.ends_with('/')) refuse(text, "the path names a directory; add the name of the socket");
  if (path.find('\0') != std::string_view::npos) refuse(text, "the path contains a NUL byte");
  if (path.size() > socket_path_max) {
    refuse(text,
           "the path has " + std::to_string(path.size()) +
               " bytes, and that of a socket may have " + std::to_string(socket_path_max) +
               "; use a shorter one");
  }
  return {.family = Family::unix_socket, .host = std::string{path}, .port = 0};
}

std::uint16_t parse_port(std::string_view text, std::string_view port) {
  unsigned number = 0;
  const bool digits = !port.empty() && port.size() <= 5 && std::ranges::all_of(port, is_digit);
  if (digits) std::from_chars(port.data(), port.data() + port.size(), number);
  if (!digits || number > 65'535) refuse(text, "a port is a number from 0 to 65535");
  return static_cast<std::uint16_t>(number);
}

// The address as the system writes it; nothing if it is none.
std::optional<std::string> normalize(int family, const std::string& host) {
  in6_addr address{};  // large enough for both
  std::string text(INET6_ADDRSTRLEN, '\0');
  if (inet_pton(family, host.c_str(), &address) != 1 ||
      inet_ntop(family, &address, text.data(), INET6_ADDRSTRLEN) == nullptr) {
    return {};
  }
  text.resize(text.find('\0'));
  return text;
}

}  // namespace

bool ListenAddress::needs_token() const {
  switch (family) {
    case Family::ipv4:
      return !host.starts_with("127.");
    case Family::ipv6:
      return host != "::1";
    case Family::unix_socket:
      return false;
  }
  return true;
}

std::string ListenAddress::to_string() const {
  switch (family) {
    case Family::ipv4:
      return host + ':' + std::to_string(port);
    case Family::ipv6:
      return '[' + host + "]:" + std::to_string(port);
    case Family::unix_socket:
      break;
  }
  return std::string{unix_prefix} + host;
}

ListenAddress parse_listen_address(std::string_view text) {
  if (text.starts_with(unix_prefix)) return parse_unix(text);
  if (!text.empty() && std::ranges::all_of(text, is_digit)) {
    return {.port = parse_port(text, text)};
  }

  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) {
    if (!text.empty()) refuse(text, "the port is missing, as in 127.0.0.1:8470");
    refuse_form(text);
  }
  std::string host{text.substr(0, colon)};
  if (host.find('\0') != std::string::npos) refuse_form(text);
  if (host == "localhost") return {.port = parse_port(text, text.substr(colon + 1))};

  const bool in_brackets = host.starts_with('[') && host.ends_with(']');
  if (in_brackets) {
    const auto address = normalize(AF_INET6, host.substr(1, host.size() - 2));
    if (!address) refuse(text, "an IPv6 address stands in the brackets, as in [::1]:8470");
    const std::uint16_t port = parse_port(text, text.substr(colon + 1));
    return {.family = Family::ipv6, .host = *address, .port = port};
  }
  if (host.find(':') != std::string::npos || host.starts_with('[')) {
    refuse(text, "an IPv6 address needs brackets and a port, as in [::1]:8470");
  }
  if (host.empty()) {
    refuse(text, "the IP address is missing; for every address of this host, use 0.0.0.0");
  }
  const auto address = normalize(AF_INET, host);
  if (!address) refuse(text, "names are not looked up; use an IP address, as in 127.0.0.1:8470");
  return {.host = *address, .port = parse_port(text, text.substr(colon + 1))};
}

}  // namespace dutiful::http
