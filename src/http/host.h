// The header `Host`, by which a web page of somebody else is recognized.
//
// A page of evil.example can make the name evil.example lead to 127.0.0.1 (DNS rebinding) and then
// read our answers as its own. The browser still sends "Host: evil.example".
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace dutiful::http {

// Checks a value of `--listen-host`: a name or an IP address, without a port. Returns it as
// is_our_host() compares it: in lower case, without brackets. Throws std::invalid_argument with a
// message that names the value and the remedy.
[[nodiscard]] std::string parse_listen_host(std::string_view text);

// Whether the value of the header names this server: the IP address at which the connection
// arrived, "localhost" or any loopback address if that is a loopback address, or one of
// the given hosts. The port is not compared, because a tunnel or a proxy may use another.
[[nodiscard]] bool is_our_host(std::string_view header,
                               std::string_view local_address,
                               std::span<const std::string> hosts);

}  // namespace dutiful::http
