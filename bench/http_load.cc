#include "http_load.h"

#include <array>
#include <chrono>
#include <deque>
#include <optional>
#include <stdexcept>

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace dutiful::bench {
namespace {

constexpr unsigned clients = 10;
constexpr unsigned stormers = 4;
// What each of the storm keeps open: together more than the server accepts.
constexpr std::size_t open_per_stormer = 60;
// Between two connections: without it, the storm would mostly measure itself.
constexpr std::chrono::microseconds pause{500};

// Long answers, short ones, and those that read the history and the state.
constexpr std::array<std::string_view, 5> targets{
    "/api/v1/tasks", "/metrics", "/api/v1/runs", "/api/v1/account", "/readyz"};

}  // namespace

HttpClient::HttpClient(std::uint16_t port, unsigned source, Manner manner)
    : socket_(socket(
          AF_INET, SOCK_STREAM | SOCK_CLOEXEC | (manner == Manner::hasty ? SOCK_NONBLOCK : 0), 0)) {
  const int small = 4096;
  if (manner == Manner::hasty) {
    setsockopt(socket_.get(), SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
  }
  const timeval patience{.tv_sec = 5, .tv_usec = 0};
  setsockopt(socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  sockaddr_in from{};
  from.sin_family = AF_INET;
  from.sin_addr.s_addr = htonl((127U << 24) + source);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(port);
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  // If this fails, so do the calls that follow.
  (void)bind(socket_.get(), reinterpret_cast<const sockaddr*>(&from), sizeof from);
  (void)connect(socket_.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to);
}

bool HttpClient::send(std::string_view text) const {
  return ::send(socket_.get(), text.data(), text.size(), MSG_NOSIGNAL) ==
         static_cast<ssize_t>(text.size());
}

std::size_t HttpClient::get(std::string_view target) {
  std::string request{"GET "};
  request.append(target).append(" HTTP/1.1\r\nHost: localhost\r\n\r\n");
  if (!send(request)) return 0;
  thread_local std::vector<char> text(256UL * 1024);
  std::string head;
  std::size_t size = 0;
  std::size_t expected = 0;  // 0: in chunks
  while (true) {
    const ssize_t received = recv(socket_.get(), text.data(), text.size(), 0);
    if (received <= 0) return 0;
    const std::string_view part{text.data(), static_cast<std::size_t>(received)};
    size += part.size();
    if (size == part.size()) {
      head = part.substr(0, 1024);
      const auto end = head.find("\r\n\r\n");
      if (end == std::string::npos) throw std::runtime_error("an answer without a header");
      status_ = std::stoi(head.substr(9, 3));
      const auto length = head.find("Content-Length: ");
      if (length < end) expected = end + 4 + std::stoul(head.substr(length + 16));
    }
    if (expected > 0 ? size >= expected : part.ends_with("0\r\n\r\n")) return size;
  }
}

HttpLoad::HttpLoad(Load load, std::uint16_t port) : port_(port) {
  const bool asks = load == Load::clients;
  for (unsigned i = 0; i < (asks ? clients : stormers); ++i) {
    threads_.emplace_back([this, asks, i] { asks ? ask(i) : storm(i); });
  }
}

HttpLoad::~HttpLoad() {
  ending_ = true;
  for (std::thread& thread : threads_) thread.join();
}

// Half of the clients keep their connection, half open one for each request.
void HttpLoad::ask(unsigned number) {
  std::optional<HttpClient> client;
  for (std::size_t i = number; !ending_; ++i) {
    if (!client || number % 2 == 0) client.emplace(port_);
    if (client->get(targets[i % targets.size()]) > 0) {
      ++requests_;
    } else {
      client.reset();
    }
  }
}

// Clients that are silent, that never finish their request, that send a byte now and then, that
// send far too much, that never read and that leave at once. Each thread has an address of its own.
void HttpLoad::storm(unsigned number) {
  const std::string long_header(64UL * 1024, 'x');
  std::deque<HttpClient> open;
  for (std::size_t i = number; !ending_; ++i, ++requests_) {
    HttpClient client{port_, 2 + number, HttpClient::Manner::hasty};
    switch (i % 7) {
      case 0:  // silent
        break;
      case 1:
        client.send("GET /api/v1/tasks HTTP/1.1\r\nHost: local");
        break;
      case 2:
        client.send("GET / HTTP/1.1\r\nHost: localhost\r\nX-Long: " + long_header);
        break;
      case 3:
        client.send("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 999999999\r\n\r\n" +
                    long_header);
        break;
      case 4:
        client.send("GET /" + long_header + " HTTP/1.1\r\nHost: localhost\r\n\r\n");
        break;
      case 5:
        client.send("GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n");
        break;
      default:
        client.send("GET /api/v1/tasks HTTP/1.1\r\nHost: localhost\r\n\r\n");
    }
    open.push_back(std::move(client));
    // A byte now and then, from the clients that have not finished.
    for (std::size_t slow = 0; slow < open.size(); slow += 10) open[slow].send("x");
    if (open.size() >= open_per_stormer) open.pop_front();
    std::this_thread::sleep_for(pause);
  }
}

}  // namespace dutiful::bench
