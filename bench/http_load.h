// Clients of an HTTP server that cost as little as they can.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "posix/descriptor.h"

namespace dutiful::bench {

// One connection.
class HttpClient {
 public:
  // Waits for the server.
  explicit HttpClient(std::uint16_t port) : HttpClient(port, 1, Manner::patient) {}
  // `source` is the last part of the client's address in 127.0.0.0/24. A hasty client never waits,
  // and has no room for a long answer.
  enum class Manner : bool { patient, hasty };
  HttpClient(std::uint16_t port, unsigned source, Manner manner);

  bool send(std::string_view text) const;
  // The size of the answer with its headers; 0 if the connection ends before the answer does.
  std::size_t get(std::string_view target);
  [[nodiscard]] int status() const { return status_; }

 private:
  Descriptor socket_;
  int status_ = 0;
};

enum class Load { clients, storm };

// Threads that load a server until they are destroyed.
class HttpLoad {
 public:
  HttpLoad(Load load, std::uint16_t port);
  ~HttpLoad();
  HttpLoad(const HttpLoad&) = delete;
  HttpLoad& operator=(const HttpLoad&) = delete;

  // Answers to clients, or the connections of a storm.
  [[nodiscard]] std::size_t requests() const { return requests_; }

 private:
  void ask(unsigned number);
  void storm(unsigned number);

  const std::uint16_t port_;
  std::atomic<bool> ending_ = false;
  std::atomic<std::size_t> requests_ = 0;
  std::vector<std::thread> threads_;
};

}  // namespace dutiful::bench
