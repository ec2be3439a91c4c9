#include "postgres/resolver.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <thread>
#include <utility>

#include <arpa/inet.h>
#include <netdb.h>
#include <poll.h>

#include "posix/bell.h"
#include "text/quote.h"

namespace dutiful::postgres {
namespace {

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> parts(1);
  for (const char c : list) {
    if (c == ',') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

// A path of a socket, or an address in numbers.
bool is_name(const std::string& host) {
  std::array<unsigned char, sizeof(in6_addr)> number{};
  return !host.empty() && host.front() != '/' && host.front() != '@' &&
         inet_pton(AF_INET, host.c_str(), number.data()) != 1 &&
         inet_pton(AF_INET6, host.c_str(), number.data()) != 1;
}

// The numbers of a host, as text. Empty, with the reason, if there are none.
std::vector<std::string> numbers_of(const std::string& host, std::string& why) {
  const addrinfo hints{.ai_flags = AI_ADDRCONFIG,
                       .ai_family = AF_UNSPEC,
                       .ai_socktype = SOCK_STREAM,
                       .ai_protocol = 0,
                       .ai_addrlen = 0,
                       .ai_addr = nullptr,
                       .ai_canonname = nullptr,
                       .ai_next = nullptr};
  addrinfo* found = nullptr;
  const int code = getaddrinfo(host.c_str(), nullptr, &hints, &found);
  if (code != 0) {
    why = "cannot resolve the host " + quote(host) + ": " + gai_strerror(code);
    return {};
  }
  std::vector<std::string> numbers;
  for (const addrinfo* each = found; each != nullptr; each = each->ai_next) {
    std::array<char, NI_MAXHOST> text{};
    if (getnameinfo(each->ai_addr,
                    each->ai_addrlen,
                    text.data(),
                    text.size(),
                    nullptr,
                    0,
                    NI_NUMERICHOST) == 0) {
      numbers.emplace_back(text.data());
    }
  }
  freeaddrinfo(found);
  return numbers;
}

// libpq reads three lists in step: names, which certificates are for, numbers, and ports.
std::variant<Address, Resolver::Failed> resolve(Address address) {
  const std::vector<std::string> hosts = split(address.get("host"));
  const std::vector<std::string> ports = split(address.get("port"));
  std::array<std::string, 3> lists;
  bool found = false;
  const auto add = [&](const std::string& host, const std::string& number, std::size_t i) {
    const std::string& port = ports[std::min(i, ports.size() - 1)];
    std::size_t list = 0;
    for (const std::string* part : {&host, &number, &port}) {
      lists[list++].append(found ? "," : "").append(*part);
    }
    found = true;
  };
  std::string why;
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    const std::vector<std::string> numbers =
        is_name(hosts[i]) ? numbers_of(hosts[i], why) : std::vector<std::string>{""};
    for (const std::string& number : numbers) add(hosts[i], number, i);
  }
  if (!found) return Resolver::Failed{why};
  address.set("host", lists[0]);
  address.set("hostaddr", lists[1]);
  address.set("port", lists[2]);
  return address;
}

}  // namespace

bool has_names(const Address& address) {
  return address.get("hostaddr").empty() &&
         std::ranges::any_of(split(address.get("host")), is_name);
}

struct Resolver::Lookup {
  Bell bell;
  std::atomic<bool> is_done = false;  // the result is written before, and read after
  std::variant<Address, Failed> result{};
};

Resolver::Resolver(Address address) : lookup_(std::make_shared<Lookup>()) {
  std::thread{[lookup = lookup_, address = std::move(address)]() mutable {
    lookup->result = resolve(std::move(address));
    lookup->is_done.store(true, std::memory_order_release);
    lookup->bell.ring();
  }}.detach();
}

bool Resolver::is_done() const {
  return lookup_->is_done.load(std::memory_order_acquire);
}

std::variant<Address, Resolver::Failed> Resolver::take() {
  return std::move(lookup_->result);
}

void Resolver::add_to(std::vector<pollfd>& waiting) const {
  waiting.push_back({.fd = lookup_->bell.descriptor(), .events = POLLIN, .revents = 0});
}

}  // namespace dutiful::postgres
