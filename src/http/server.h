// An HTTP server for reading: GET and HEAD, no bodies. It knows nothing about tasks.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "http/address.h"
#include "http/limits.h"
#include "http/refusals.h"
#include "http/request.h"
#include "http/response.h"
#include "http/token.h"

namespace dutiful::http {

class EventHub;

// Serves from its constructor to its destructor, in threads of its own: they block all signals and
// have a lower priority than the thread that constructs the server. No client can make another
// thread wait.
//
// A request reaches the handler if
//   - its Host is ours (otherwise 421, or 400 if there is none),
//   - its method is GET or HEAD (405),
//   - it carries the token, if there is one and the path needs it (401),
//   - it has no body (413), and its path and query can be decoded (400).
// A HEAD is answered as a GET, without the body.
class HttpServer {
 public:
  // Called by several threads at once. If it throws, the client gets 500, or 503 if memory ran out.
  using Handler = std::function<Response(const Request&)>;

  struct Options {
    std::vector<ListenAddress> addresses;
    std::optional<AccessToken> token{};
    std::vector<std::string> hosts{};  // as parse_listen_host() returns them
    Limits limits{};
    EventHub* events = nullptr;  // for responses with an EventStream; must outlive the server
    // Paths that are served without the token, such as probes. Default: none.
    std::function<bool(std::string_view path)> needs_no_token{};
    // Called by the threads of the server, one at a time, and not more often than
    // Limits::refusal_interval.
    std::function<void(const RefusedRequest&)> on_refused{};
  };

  // Listens. Throws std::system_error or FileError, with a message that names the address and the
  // remedy, and std::logic_error if an address needs a token and there is none.
  HttpServer(Options options, Handler handler);
  // Closes every connection, whatever the clients do. Waits only for calls of the handler.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // The addresses with the ports that were chosen, in the order of the options.
  [[nodiscard]] const std::vector<ListenAddress>& addresses() const noexcept;
  // The port of the first address; 0 if that is a Unix socket.
  [[nodiscard]] std::uint16_t port() const noexcept;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace dutiful::http
