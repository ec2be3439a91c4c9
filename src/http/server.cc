#include "http/server.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <exception>
#include <new>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <utility>

#include <arpa/inet.h>
#include <fcntl.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "http/admission.h"
#include "http/body_budget.h"
#include "http/connections.h"
#include "http/event_hub.h"
#include "http/event_streams.h"
#include "http/listen_socket.h"
#include "http/mhd_response.h"
#include "posix/bell.h"
#include "text/quote.h"

namespace dutiful::http {
namespace {

using Steady = std::chrono::steady_clock;

// How long the end of the server waits for handlers that take their time.
constexpr std::chrono::seconds end_patience{2};

// The IP address as text; empty if it is none.
std::string ip_text(const sockaddr* address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const void* bytes = nullptr;
  if (address->sa_family == AF_INET) {
    bytes = &reinterpret_cast<const sockaddr_in*>(address)->sin_addr;
  } else if (address->sa_family == AF_INET6) {
    bytes = &reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr;
  }
  if (bytes == nullptr) return {};
  inet_ntop(address->sa_family, bytes, text.data(), text.size());
  return text.data();
}

std::string local_address_of(int descriptor) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  auto* any = reinterpret_cast<sockaddr*>(&address);
  return getsockname(descriptor, any, &size) == 0 ? ip_text(any) : std::string{};
}

std::string peer_user(int descriptor) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return "unknown user";
  return "user " + std::to_string(peer.uid);
}

MHD_Result collect_header(void* cls,
                          MHD_ValueKind /*kind*/,
                          const char* name,
                          std::size_t name_size,
                          const char* value,
                          std::size_t value_size) {
  try {
    static_cast<std::vector<Field>*>(cls)->push_back(
        {.name = {name, name_size},
         .value = value != nullptr ? std::string{value, value_size} : std::string{}});
    return MHD_YES;
  } catch (const std::bad_alloc&) {
    return MHD_NO;
  }
}

bool has_body(MHD_Connection* connection) {
  const auto has = [&](const char* name) {
    return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name) != nullptr;
  };
  return has("Content-Length") || has("Transfer-Encoding");
}

Connection* client_of(MHD_Connection* connection) {
  return static_cast<Connection*>(
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context);
}

// The bytes that stay in memory while the response is sent.
std::size_t size_of(const Response& response) {
  if (const auto* text = std::get_if<std::string>(&response.body)) return text->size();
  const auto* source = std::get_if<std::shared_ptr<BodySource>>(&response.body);
  return source != nullptr ? (*source)->held() : 0;
}

// We decode the path and the query ourselves.
std::size_t leave_escaped(void* /*cls*/, MHD_Connection* /*connection*/, char* text) {
  return std::strlen(text);
}

}  // namespace

class HttpServer::Impl {
 public:
  Impl(Options options, Handler handler);
  ~Impl() { end(); }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  [[nodiscard]] const std::vector<ListenAddress>& addresses() const noexcept { return addresses_; }

 private:
  // One address that is listened on.
  struct Listener {
    Impl& server;
    std::size_t number;
  };

  void start();
  void start_daemon(std::size_t listener);
  void end() noexcept;
  void tend() noexcept;

  static void on_connection(void* cls,
                            MHD_Connection* connection,
                            void** context,
                            MHD_ConnectionNotificationCode what);
  static void* on_target(void* cls, const char* target, MHD_Connection* connection);
  static MHD_Result on_request(void* cls,
                               MHD_Connection* connection,
                               const char* path,
                               const char* method,
                               const char* version,
                               const char* upload,
                               std::size_t* upload_size,
                               void** context);
  static void on_completed(void* cls,
                           MHD_Connection* connection,
                           void** context,
                           MHD_RequestTerminationCode why);

  void open(std::size_t listener, MHD_Connection* connection, void** context);
  Response answer(MHD_Connection* connection,
                  const Connection& client,
                  std::string_view method,
                  std::string_view version);
  [[nodiscard]] Response handle(const Request& request) const;
  MHD_Result send(MHD_Connection* connection, Connection& client, Response response, bool is_head);
  // The response that sends events; nullptr if there are too many.
  MhdResponse follow(MHD_Connection* connection, Connection& client, const EventStream& events);

  const Options options_;
  const AdmissionRules rules_;
  const Handler handler_;
  Refusals refusals_;
  Connections connections_;
  BodyBudget bodies_;
  std::optional<EventStreams> streams_;
  std::vector<ListenSocket> sockets_;
  std::vector<ListenAddress> addresses_;
  std::vector<Listener> listeners_;  // libmicrohttpd points into it
  std::vector<MHD_Daemon*> daemons_;
  Bell bell_;  // rings when the tending thread must look again
  std::atomic<bool> ending_ = false;
  std::vector<pollfd> polled_;  // used by the tending thread only
  std::thread tending_;
};

HttpServer::Impl::Impl(Options options, Handler handler)
    : options_(std::move(options)),
      rules_{.token = options_.token,
             .hosts = options_.hosts,
             .needs_no_token = options_.needs_no_token,
             .limits = options_.limits},
      handler_(std::move(handler)),
      refusals_(options_.on_refused, options_.limits.refusal_interval),
      connections_(options_.limits),
      bodies_(options_.limits.bodies_max, options_.limits.small_body_max) {
  for (const ListenAddress& address : options_.addresses) {
    if (address.needs_token() && !options_.token) {
      throw std::logic_error(address.to_string() + " can be reached by others and needs a token");
    }
  }
  const Limits& limits = options_.limits;
  if (options_.events != nullptr) {
    streams_.emplace(*options_.events, limits.streams_max, limits.heartbeat);
  }
  polled_.reserve(limits.streams_max + 2);
  for (const ListenAddress& address : options_.addresses) {
    addresses_.push_back(sockets_.emplace_back(address).address());
  }
  for (std::size_t i = 0; i < sockets_.size(); ++i) listeners_.push_back({*this, i});
  daemons_.reserve(sockets_.size());
  try {
    start();
  } catch (...) {
    end();
    throw;
  }
}

// Threads inherit the signal mask and the priority of the thread that starts them.
void HttpServer::Impl::start() {
  std::exception_ptr error;
  std::thread starter{[&] {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);
    // Linux has a priority for each thread. If it cannot be lowered, it stays.
    errno = 0;
    const int niceness = getpriority(PRIO_PROCESS, 0) + options_.limits.niceness;
    setpriority(PRIO_PROCESS, 0, std::min(niceness, 19));
    try {
      tending_ = std::thread{[this] { tend(); }};
      for (std::size_t i = 0; i < sockets_.size(); ++i) start_daemon(i);
    } catch (...) {
      error = std::current_exception();
    }
  }};
  starter.join();
  if (error) std::rethrow_exception(error);
}

void HttpServer::Impl::start_daemon(std::size_t listener) {
  const ListenSocket& socket = sockets_[listener];
  const Limits& limits = options_.limits;
  // libmicrohttpd closes the descriptor that it is given, unless it fails to start: then the
  // program is about to end.
  const int descriptor = fcntl(socket.descriptor(), F_DUPFD_CLOEXEC, 0);
  if (descriptor < 0) {
    throw std::system_error(
        errno, std::generic_category(), "cannot listen on " + socket.address().to_string());
  }
  unsigned flags = MHD_USE_AUTO_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME;
  if (socket.address().family == ListenAddress::Family::ipv6) flags |= MHD_USE_IPv6;
  std::array<MHD_OptionItem, 2> pool{{{MHD_OPTION_END, 0, nullptr}, {MHD_OPTION_END, 0, nullptr}}};
  if (limits.threads > 1) {
    pool.front() = {
        MHD_OPTION_THREAD_POOL_SIZE, static_cast<std::intptr_t>(limits.threads), nullptr};
  }
  MHD_Daemon* daemon = MHD_start_daemon(flags,
                                        0,
                                        nullptr,
                                        nullptr,
                                        &Impl::on_request,
                                        this,
                                        MHD_OPTION_LISTEN_SOCKET,
                                        descriptor,
                                        MHD_OPTION_CONNECTION_LIMIT,
                                        limits.connections_max,
                                        MHD_OPTION_CONNECTION_TIMEOUT,
                                        static_cast<unsigned>(limits.idle_max.count()),
                                        MHD_OPTION_CONNECTION_MEMORY_LIMIT,
                                        limits.memory_per_connection,
                                        // Admission checks the Host. libmicrohttpd 0.9.75 would
                                        // send its own answer to a missing one incorrectly.
                                        MHD_OPTION_STRICT_FOR_CLIENT,
                                        0,
                                        MHD_OPTION_NOTIFY_CONNECTION,
                                        &Impl::on_connection,
                                        &listeners_[listener],
                                        MHD_OPTION_NOTIFY_COMPLETED,
                                        &Impl::on_completed,
                                        this,
                                        MHD_OPTION_URI_LOG_CALLBACK,
                                        &Impl::on_target,
                                        this,
                                        MHD_OPTION_UNESCAPE_CALLBACK,
                                        &leave_escaped,
                                        nullptr,
                                        MHD_OPTION_ARRAY,
                                        pool.data(),
                                        MHD_OPTION_END);
  if (daemon == nullptr) {
    throw std::system_error(errno != 0 ? errno : EAGAIN,
                            std::generic_category(),
                            "cannot serve " + socket.address().to_string());
  }
  daemons_.push_back(daemon);
}

void HttpServer::Impl::end() noexcept {
  // libmicrohttpd cannot stop while a connection is suspended.
  if (streams_) streams_->end();
  // libmicrohttpd 0.9.75 crashes if it has to refuse a request, such as one that is too long, while
  // it stops. So there must be no connection any more. (Its own way to accept no more, which is
  // MHD_quiesce_daemon(), sometimes aborts.)
  for (const ListenSocket& socket : sockets_) shutdown(socket.descriptor(), SHUT_RDWR);
  connections_.end(Steady::now() + end_patience);
  for (MHD_Daemon* daemon : daemons_) MHD_stop_daemon(daemon);
  daemons_.clear();
  ending_ = true;
  bell_.ring();
  if (tending_.joinable()) tending_.join();
}

// Shuts down the connections that are too slow, and wakes the streams of events.
void HttpServer::Impl::tend() noexcept {
  while (!ending_) {
    const Steady::time_point now = Steady::now();
    auto next = connections_.shut_down_expired(now);
    polled_.assign(1, {.fd = bell_.descriptor(), .events = POLLIN, .revents = 0});
    if (streams_) {
      Bell& published = options_.events->bell();
      published.take();
      polled_.push_back({.fd = published.descriptor(), .events = POLLIN, .revents = 0});
      const auto heartbeat = streams_->tend(now, polled_);
      if (heartbeat && (!next || *heartbeat < *next)) next = heartbeat;
    }
    int timeout = -1;
    if (next) {
      // Rounded up: a wait that ends too early would be repeated.
      const auto wait = std::chrono::ceil<std::chrono::milliseconds>(*next - now);
      timeout = static_cast<int>(wait.count());
    }
    poll(polled_.data(), polled_.size(), timeout);
    bell_.take();
  }
}

void HttpServer::Impl::on_connection(void* cls,
                                     MHD_Connection* connection,
                                     void** context,
                                     MHD_ConnectionNotificationCode what) {
  const auto& listener = *static_cast<const Listener*>(cls);
  Impl& server = listener.server;
  if (what == MHD_CONNECTION_NOTIFY_STARTED) {
    server.open(listener.number, connection, context);
  } else if (*context != nullptr) {
    auto* client = static_cast<Connection*>(*context);
    if (server.streams_) server.streams_->forget(client->descriptor);
    server.connections_.remove(client);
  }
}

void HttpServer::Impl::open(std::size_t listener, MHD_Connection* connection, void** context) {
  const int descriptor =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
  try {
    Connection client;
    client.descriptor = descriptor;
    client.listener = listener;
    client.local_address = local_address_of(descriptor);
    client.on_unix_socket = client.local_address.empty();
    client.client =
        client.on_unix_socket
            ? peer_user(descriptor)
            : ip_text(MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS)
                          ->client_addr);
    const Steady::time_point now = Steady::now();
    const auto added = connections_.add(std::move(client), now);
    *context = added.connection;
    if (added.is_next) bell_.ring();
    if (added.refused) {
      refusals_.add({.what = "connection",
                     .reason = "the client has too many connections",
                     .who = added.connection->client},
                    now);
    }
  } catch (const std::bad_alloc&) {
    *context = nullptr;
    shut_down(descriptor);
  }
}

// Keeps the target as it was sent: libmicrohttpd only passes on parts of it.
void* HttpServer::Impl::on_target(void* /*cls*/, const char* target, MHD_Connection* connection) {
  auto* client = client_of(connection);
  if (client == nullptr) return nullptr;
  try {
    client->target = target;
  } catch (const std::bad_alloc&) {
    client->target.clear();  // is refused
  }
  return nullptr;
}

MHD_Result HttpServer::Impl::on_request(void* cls,
                                        MHD_Connection* connection,
                                        const char* /*path*/,
                                        const char* method,
                                        const char* version,
                                        const char* /*upload*/,
                                        std::size_t* /*upload_size*/,
                                        void** context) {
  auto& server = *static_cast<Impl*>(cls);
  auto* client = client_of(connection);
  if (client == nullptr) return MHD_NO;
  // The first call is made before the body. A response to it closes the connection, which is
  // intended if there is a body: it is not read.
  const bool is_first = *context == nullptr;
  *context = client;
  if (is_first) server.connections_.begin_request(*client);
  if (is_first && !has_body(connection)) return MHD_YES;
  try {
    Response response = server.answer(connection, *client, method, version);
    return server.send(
        connection, *client, std::move(response), std::string_view{method} == "HEAD");
  } catch (const std::exception&) {  // out of memory
    return MHD_NO;
  }
}

void HttpServer::Impl::on_completed(void* cls,
                                    MHD_Connection* connection,
                                    void** /*context*/,
                                    MHD_RequestTerminationCode /*why*/) {
  auto& server = *static_cast<Impl*>(cls);
  auto* client = client_of(connection);
  if (client == nullptr) return;
  if (server.connections_.end_request(*client, Steady::now())) server.bell_.ring();
}

Response HttpServer::Impl::answer(MHD_Connection* connection,
                                  const Connection& client,
                                  std::string_view method,
                                  std::string_view version) {
  const auto* headers_size =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
  ReceivedRequest received{.method = method,
                           .version = version,
                           .target = client.target,
                           .headers = {},
                           .headers_size = headers_size != nullptr ? headers_size->header_size : 0};
  MHD_get_connection_values_n(connection, MHD_HEADER_KIND, collect_header, &received.headers);
  Admission admission = admit(std::move(received), client, rules_);
  if (!admission.reason.empty()) {
    refusals_.add({.what = show(std::string{method} + ' ' + client.target),
                   .reason = std::move(admission.reason),
                   .who = client.client},
                  Steady::now());
  }
  return admission.refusal ? std::move(*admission.refusal) : handle(admission.request);
}

Response HttpServer::Impl::handle(const Request& request) const {
  try {
    return handler_(request);
  } catch (const std::bad_alloc&) {
    return error_response(503, "out of memory");
  } catch (...) {
    return error_response(500, "internal error");
  }
}

MhdResponse HttpServer::Impl::follow(MHD_Connection* connection,
                                     Connection& client,
                                     const EventStream& events) {
  if (!streams_) return {};
  auto* stream = streams_->open(connection, client.descriptor, events.last_event_id, Steady::now());
  if (stream == nullptr) return {};
  MhdResponse response = from_stream(*streams_, stream);
  if (!response) return {};
  connections_.clear_deadline(client);
  bell_.ring();  // the stream needs heartbeats
  return response;
}

MHD_Result HttpServer::Impl::send(MHD_Connection* connection,
                                  Connection& client,
                                  Response response,
                                  bool is_head) {
  MhdResponse sent;
  if (const auto* events = std::get_if<EventStream>(&response.body)) {
    if (!is_head) sent = follow(connection, client, *events);
    if (!is_head && !sent) {
      response = error_response(503, "too many clients follow the events");
      response.headers.push_back({"Retry-After", "10"});
    }
  }
  auto share = bodies_.take(size_of(response));
  if (!share) {
    response = error_response(503, "too many clients are reading large answers");
    response.headers.push_back({"Retry-After", "10"});
    share.emplace(*bodies_.take(0));
  }
  if (auto* source = std::get_if<std::shared_ptr<BodySource>>(&response.body)) {
    sent = from_source(std::move(*source), std::move(*share));
  } else if (auto* text = std::get_if<std::string>(&response.body)) {
    sent = from_text(std::move(*text), std::move(*share));
  } else if (!sent) {
    sent = from_text({}, std::move(*share));
  }
  if (!sent) return MHD_NO;
  add_headers(*sent, response);
  if (++client.requests >= options_.limits.requests_per_connection_max) {
    MHD_add_response_header(sent.get(), "Connection", "close");
  }
  return MHD_queue_response(connection, response.status, sent.get());
}

HttpServer::HttpServer(Options options, Handler handler)
    : impl_(std::make_unique<Impl>(std::move(options), std::move(handler))) {}

HttpServer::~HttpServer() = default;

const std::vector<ListenAddress>& HttpServer::addresses() const noexcept {
  return impl_->addresses();
}

std::uint16_t HttpServer::port() const noexcept {
  return addresses().empty() ? 0 : addresses().front().port;
}

}  // namespace dutiful::http
