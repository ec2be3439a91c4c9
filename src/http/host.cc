#include "http/host.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <optional>
#include <stdexcept>

#include <arpa/inet.h>
#include <netinet/in.h>

#include "text/characters.h"
#include "text/quote.h"

namespace dutiful::http {
namespace {

std::string in_lower_case(std::string_view text) {
  std::string lower{text};
  std::ranges::transform(lower, lower.begin(), to_lower);
  return lower;
}

// The IP address as the system writes it; nothing if the text is none.
std::optional<std::string> ip_address(const std::string& text) {
  if (text.find('\0') != std::string::npos) return {};
  std::string written(INET6_ADDRSTRLEN, '\0');
  for (const int family : {AF_INET, AF_INET6}) {
    in6_addr address{};  // large enough for both
    if (inet_pton(family, text.c_str(), &address) != 1) continue;
    if (inet_ntop(family, &address, written.data(), INET6_ADDRSTRLEN) == nullptr) return {};
    written.resize(written.find('\0'));
    return written;
  }
  return {};
}

bool is_loopback(std::string_view address) {
  return address.starts_with("127.") || address == "::1";
}

bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= 253 && std::ranges::all_of(text, [](char c) {
    return is_letter(c) || is_digit(c) || c == '-' || c == '.' || c == '_';
  });
}

// The host of "host:port" in lower case, without brackets; nothing if the text is not of that form.
std::optional<std::string> host_of(std::string_view header) {
  std::string_view port;
  std::string host;
  if (header.starts_with('[')) {
    const std::size_t end = header.find(']');
    if (end == std::string_view::npos) return {};
    const auto address = ip_address(std::string{header.substr(1, end - 1)});
    if (!address || address->find(':') == std::string::npos) return {};
    host = *address;
    port = header.substr(end + 1);
  } else {
    const std::size_t colon = std::min(header.find(':'), header.size());
    host = in_lower_case(header.substr(0, colon));
    if (!is_name(host)) return {};
    port = header.substr(colon);
  }
  if (port.empty()) return host;
  port.remove_prefix(1);  // the colon, or what stands in its place
  if (header[header.size() - port.size() - 1] != ':') return {};
  if (port.size() > 5 || !std::ranges::all_of(port, is_digit)) return {};
  return host;
}

}  // namespace

std::string parse_listen_host(std::string_view text) {
  std::string host = in_lower_case(text);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  if (const auto address = ip_address(host)) return *address;
  if (is_name(host)) return host;
  throw std::invalid_argument("invalid host " + quote(text) +
                              ": use the name or the IP address that clients send in the header "
                              "Host, without a port, as in cron.example.com");
}

bool is_our_host(std::string_view header,
                 std::string_view local_address,
                 std::span<const std::string> hosts) {
  const auto host = host_of(header);
  if (!host) return false;
  if (*host == local_address || std::ranges::find(hosts, *host) != hosts.end()) return true;
  if (!is_loopback(local_address)) return false;
  if (*host == "localhost") return true;
  // "127.evil.example" is a name.
  return is_loopback(*host) && ip_address(*host).has_value();
}

}  // namespace dutiful::http
