// How much a client may ask of the server.
#pragma once

#include <chrono>
#include <cstddef>

namespace dutiful::http {

struct Limits {
  // Of each address that is listened on. With the last of them, the connection that has waited
  // longest for a request is closed. If every connection has a request, further clients wait in the
  // kernel's queue.
  unsigned connections_max = 128;
  // From one client, which is an IPv4 address or an IPv6 network (network_of()); further
  // connections are closed. Does not apply to Unix sockets, where a reverse proxy makes every
  // connection.
  unsigned connections_per_client_max = 64;
  unsigned streams_max = 32;                        // of events; the next gets 503
  std::size_t memory_per_connection = 32UL * 1024;  // headers that do not fit get 431
  std::size_t target_max = 8UL * 1024;              // of the path with the query: 414
  std::size_t headers_max = 16UL * 1024;            // bytes of all: 431
  std::size_t header_count_max = 64;                // 431
  std::size_t parameters_max = 32;                  // of the query: 400
  // Of all bodies that wait for their clients, without the small ones: 503.
  std::size_t bodies_max = 256UL * 1024 * 1024;
  std::size_t small_body_max = 64UL * 1024;
  unsigned requests_per_connection_max = 1'000;  // then the connection is closed

  // Without a byte in either direction. At least a second, the unit of libmicrohttpd.
  std::chrono::seconds idle_max{15};
  // From the accept to the end of the headers of the first request.
  std::chrono::milliseconds header_max{5'000};
  // From the accept, or from the end of the previous response, to the end of the response; not for
  // streams of events.
  std::chrono::milliseconds request_max{30'000};
  std::chrono::milliseconds heartbeat{15'000};  // a comment on a stream without events

  unsigned threads = 2;  // for each address that is listened on
  int niceness = 5;      // of these threads, added to that of the process
  // At most one refusal is reported in this time.
  std::chrono::milliseconds refusal_interval{1'000};
};

}  // namespace dutiful::http
