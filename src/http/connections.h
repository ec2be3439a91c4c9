// The open connections: their clients, their deadlines, and how many there are.
#pragma once

#include <chrono>
#include <cstddef>
#include <list>
#include <map>
#include <optional>
#include <string>

#include "http/limits.h"
#include "sync/mutex.h"

namespace dutiful::http {

// Ends a connection, from any thread: its thread notices that and closes it. Data that the client
// does not read is discarded then; otherwise the kernel would keep it, and the client would not
// notice the end.
void shut_down(int descriptor) noexcept;

// What connections are counted by. An IPv6 client usually has all addresses of a /64 network, and
// could otherwise use each of them.
//
//   192.0.2.7          192.0.2.7
//   2001:db8::1:2:3:4  2001:db8::/64
//   ::ffff:192.0.2.7   192.0.2.7, which is the same client
[[nodiscard]] std::string network_of(const std::string& client);

// One connection. Its fields belong to the thread that serves it, except for the private ones.
struct Connection {
  using Time = std::chrono::steady_clock::time_point;

  int descriptor = -1;
  std::size_t listener = 0;     // the number of the address that is listened on
  std::string client{};         // as Request::client
  std::string local_address{};  // at which it arrived; empty for a Unix socket
  std::string target{};         // of the current request, as it was sent
  unsigned requests = 0;
  bool on_unix_socket = false;

 private:
  friend class Connections;
  // Guarded by the mutex of Connections.
  std::string network_{};                // as it is counted; empty: it is not
  std::optional<Time> deadline_{};       // none: it has no limit, or is shut down
  Time response_deadline_{};             // of the response to the request it waits for or has
  std::optional<Time> waiting_since_{};  // for a complete request; none: it has one
  bool is_shut_down_ = false;
};

// Thread-safe. A connection is shut down, never closed, so that its descriptor belongs to no other
// before remove(); the thread that serves it notices the shutdown and closes it.
//
// If a listener has as many connections as it may have, nobody else can connect. So the one that
// has waited longest for a complete request is shut down then: a client that sends its request
// slowly, or not at all, takes the place of nobody.
class Connections {
 public:
  using Time = Connection::Time;
  explicit Connections(const Limits& limits) : limits_(limits) {}

  struct Added {
    Connection* connection;
    bool is_next;  // its deadline is earlier than the one that shut_down_expired() returned
    bool refused;  // the client has too many; it was shut down
  };
  // Takes a connection whose descriptor, listener, client and address are known. It waits for a
  // request.
  Added add(Connection connection, Time now);
  void remove(Connection* connection) noexcept;

  // The headers of a request are complete.
  void begin_request(Connection& connection) noexcept;
  // The response was sent, and the connection waits for the next request. Returns is_next.
  [[nodiscard]] bool end_request(Connection& connection, Time now) noexcept;
  // The response may take any time.
  void clear_deadline(Connection& connection) noexcept;
  // Shuts down the connections whose deadline has passed. Returns the next deadline.
  std::optional<Time> shut_down_expired(Time now) noexcept;
  // Shuts down all connections, and waits until they are removed, but not longer than that. One
  // that is added later is refused.
  void end(Time deadline) noexcept;

 private:
  [[nodiscard]] bool is_next(Time deadline) noexcept REQUIRES(mutex_);
  void make_room(std::size_t listener, const Connection* newest) noexcept REQUIRES(mutex_);

  const Limits limits_;
  Mutex mutex_;
  Condition removed_;
  bool has_ended_ GUARDED_BY(mutex_) = false;
  std::list<Connection> connections_ GUARDED_BY(mutex_);
  std::map<std::string, unsigned, std::less<>> networks_ GUARDED_BY(mutex_);
  std::optional<Time> next_ GUARDED_BY(mutex_);  // what the caller of shut_down_expired() awaits
};

}  // namespace dutiful::http
