#include "http/connections.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

namespace dutiful::http {

void shut_down(int descriptor) noexcept {
  const linger reset{.l_onoff = 1, .l_linger = 0};
  setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
  shutdown(descriptor, SHUT_RDWR);
}

std::string network_of(const std::string& client) {
  in6_addr address{};
  if (inet_pton(AF_INET6, client.c_str(), &address) != 1) return client;
  std::array<char, INET6_ADDRSTRLEN> text{};
  constexpr std::size_t prefix = 8;
  constexpr std::size_t mapped = 12;  // the bytes before the IPv4 address
  auto* bytes = static_cast<std::uint8_t*>(address.s6_addr);
  if (IN6_IS_ADDR_V4MAPPED(&address)) {
    inet_ntop(AF_INET, bytes + mapped, text.data(), text.size());
    return text.data();
  }
  std::fill(bytes + prefix, bytes + sizeof address.s6_addr, std::uint8_t{0});
  inet_ntop(AF_INET6, &address, text.data(), text.size());
  return std::string{text.data()} + "/64";
}

Connections::Added Connections::add(Connection connection, Time now) {
  std::string network = connection.on_unix_socket ? "" : network_of(connection.client);
  const Lock lock{mutex_};
  Connection& added = connections_.emplace_back(std::move(connection));
  added.waiting_since_ = now;
  added.response_deadline_ = now + limits_.request_max;
  added.deadline_ = now + std::min(limits_.header_max, limits_.request_max);
  if (!network.empty()) {
    try {
      unsigned& count = networks_[network];
      added.is_shut_down_ = count >= limits_.connections_per_client_max;
      ++count;
    } catch (...) {
      connections_.pop_back();
      throw;
    }
    added.network_ = std::move(network);
  }
  if (has_ended_) added.is_shut_down_ = true;
  if (added.is_shut_down_) {
    shut_down(added.descriptor);
  } else {
    make_room(added.listener, &added);
  }
  return {&added, is_next(*added.deadline_), added.is_shut_down_};
}

void Connections::remove(Connection* connection) noexcept {
  const Lock lock{mutex_};
  if (!connection->network_.empty()) {
    const auto network = networks_.find(connection->network_);
    if (--network->second == 0) networks_.erase(network);
  }
  std::erase_if(connections_, [&](const Connection& one) { return &one == connection; });
  removed_.notify_all();
}

void Connections::begin_request(Connection& connection) noexcept {
  const Lock lock{mutex_};
  connection.waiting_since_.reset();
  if (connection.deadline_) connection.deadline_ = connection.response_deadline_;
}

bool Connections::end_request(Connection& connection, Time now) noexcept {
  const Lock lock{mutex_};
  if (connection.is_shut_down_) return false;
  connection.waiting_since_ = now;
  connection.response_deadline_ = now + limits_.request_max;
  connection.deadline_ = connection.response_deadline_;
  make_room(connection.listener, nullptr);
  return is_next(connection.response_deadline_);
}

void Connections::clear_deadline(Connection& connection) noexcept {
  const Lock lock{mutex_};
  connection.deadline_.reset();
}

std::optional<Connections::Time> Connections::shut_down_expired(Time now) noexcept {
  const Lock lock{mutex_};
  next_.reset();
  for (Connection& connection : connections_) {
    if (!connection.deadline_) continue;
    if (*connection.deadline_ <= now) {
      shut_down(connection.descriptor);
      connection.is_shut_down_ = true;
      connection.deadline_.reset();
    } else if (!next_ || *connection.deadline_ < *next_) {
      next_ = connection.deadline_;
    }
  }
  return next_;
}

void Connections::end(Time deadline) noexcept {
  Lock lock{mutex_};
  has_ended_ = true;
  for (Connection& connection : connections_) {
    shut_down(connection.descriptor);
    connection.is_shut_down_ = true;
    connection.deadline_.reset();
  }
  while (!connections_.empty() && removed_.wait_until(lock, deadline)) {
  }
}

bool Connections::is_next(Time deadline) noexcept {
  if (next_ && *next_ <= deadline) return false;
  next_ = deadline;
  return true;
}

// Shuts down the connection of a full listener that has waited longest for a request, but not the
// newest: its request may be about to arrive.
void Connections::make_room(std::size_t listener, const Connection* newest) noexcept {
  std::size_t count = 0;
  Connection* oldest = nullptr;
  for (Connection& one : connections_) {
    if (one.listener != listener || one.is_shut_down_) continue;
    ++count;
    if (!one.waiting_since_ || &one == newest) continue;
    if (oldest == nullptr || *one.waiting_since_ < *oldest->waiting_since_) oldest = &one;
  }
  if (oldest == nullptr || count < limits_.connections_max) return;
  // The client may still be reading the previous response, so what is on its way stays.
  shutdown(oldest->descriptor, SHUT_RDWR);
  oldest->is_shut_down_ = true;
  oldest->deadline_.reset();
}

}  // namespace dutiful::http
