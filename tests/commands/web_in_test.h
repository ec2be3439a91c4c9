// dutiful run --listen, as its clients see it.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>
#include <sys/socket.h>
#include <sys/time.h>

#include "commands/run_in_test.h"
#include "http/http_in_test.h"

namespace dutiful {

struct Answer {
  int status = 0;  // 0: the connection ended without one
  std::string headers;
  std::string body;

  [[nodiscard]] nlohmann::json json() const { return nlohmann::json::parse(body); }
  // The value of a header; empty if there is none.
  [[nodiscard]] std::string header(const std::string& name) const {
    const std::size_t at = headers.find("\r\n" + name + ": ");
    if (at == std::string::npos) return {};
    const std::size_t begin = at + name.size() + 4;
    return headers.substr(begin, headers.find("\r\n", begin) - begin);
  }
};

// Every character that needs it, and all others too, as %XX.
inline std::string percent_encoded(std::string_view text) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string encoded;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    encoded += {'%', digits[byte >> 4U], digits[byte & 15U]};
  }
  return encoded;
}

// A client of one address of the daemon.
class WebClient {
 public:
  explicit WebClient(const nlohmann::json& listening)
      : address_(http::parse_listen_address(listening["address"].get<std::string>())) {}

  [[nodiscard]] const http::ListenAddress& address() const { return address_; }

  // A connection on which no read waits for longer than tests have patience.
  [[nodiscard]] http::Client connect(
      http::Client::Buffers buffers = http::Client::Buffers::usual) const {
    http::Client client{address_, buffers};
    const timeval limit{.tv_sec = patience.count(), .tv_usec = 0};
    setsockopt(client.descriptor(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    return client;
  }

  // The answer to a request of these lines, each with its end.
  [[nodiscard]] Answer ask(const std::string& request) const {
    http::Client client = connect();
    client.send(request + "Connection: close\r\n\r\n");
    const std::string text = client.read_all();
    const std::size_t end = text.find("\r\n\r\n");
    if (!text.starts_with("HTTP/1.1 ") || end == std::string::npos) return {};
    Answer answer{std::stoi(text.substr(9, 3)), text.substr(0, end + 2), text.substr(end + 4)};
    if (answer.header("Transfer-Encoding") == "chunked") answer.body = joined(answer.body);
    return answer;
  }
  [[nodiscard]] Answer get(const std::string& target, const std::string& headers = {}) const {
    return ask("GET " + target + " HTTP/1.1\r\nHost: localhost\r\n" + headers);
  }
  [[nodiscard]] nlohmann::json get_json(const std::string& target) const {
    const Answer answer = get(target);
    EXPECT_EQ(answer.status, 200) << target << ": " << answer.body;
    return answer.json();
  }

 private:
  // The chunks of a body as one text.
  static std::string joined(std::string_view chunks) {
    std::string body;
    while (true) {
      const std::size_t line = chunks.find("\r\n");
      if (line == std::string_view::npos) return body + "(incomplete)";
      const auto size = std::stoul(std::string{chunks.substr(0, line)}, nullptr, 16);
      if (size == 0) return body;
      body += chunks.substr(line + 2, size);
      chunks.remove_prefix(std::min(line + 2 + size + 2, chunks.size()));
    }
  }

  http::ListenAddress address_;
};

class DutifulWeb : public DutifulRun {
 protected:
  // A task that is not due today, so that it does not run.
  static std::string idle_task(const std::string& name) {
    return "[[task]]\nname = '" + name + "'\ncron = '0 0 1 1 *'\nretry = '1h'\nrun = 'true'\n";
  }

  // A port that the kernel chooses.
  std::vector<std::string> listening(std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {"--listen", "0"});
    return arguments(std::move(more));
  }
  static WebClient web_of(Process& daemon) { return WebClient{daemon.await("Listening")}; }

  std::string token_file(const std::string& token, unsigned mode = 0600) const {
    std::string path = directory.file("token");
    std::ofstream{path} << token << '\n';
    std::filesystem::permissions(path, static_cast<std::filesystem::perms>(mode));
    return path;
  }

  // Waits until the history has that many runs, which may be further restricted: it is written
  // beside the log.
  static nlohmann::json runs_once_there_are(const WebClient& web,
                                            std::size_t count,
                                            const std::string& parameters = "") {
    const auto until = std::chrono::steady_clock::now() + patience;
    while (std::chrono::steady_clock::now() < until) {
      auto runs = web.get_json("/api/v1/runs?limit=1000" + parameters)["runs"];
      if (runs.size() >= count) return runs;
    }
    throw std::runtime_error("the history does not get enough runs");
  }

  static constexpr const char* secret = "0123456789abcdef0123456789abcdef";
};

}  // namespace dutiful
