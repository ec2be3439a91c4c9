// Connections of a member, of which a test waits for what happens.
#pragma once

#include <deque>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>

#include <poll.h>

#include "postgres/connections.h"
#include "postgres/server.h"

namespace dutiful {

inline Calendar utc_calendar() {
  return Calendar{Zone::utc()};
}

inline postgres::Options options_of(const std::string& database) {
  return {.address = PostgresServer::instance().address(database),
          .calendar = utc_calendar(),
          .lease = std::chrono::minutes{5},  // so that no timeout strikes on a busy machine
          .shards = 4};
}

class MemberInTest {
 public:
  using Connections = cluster::Connections;

  explicit MemberInTest(postgres::Options options)
      : connections_(std::make_unique<postgres::Connections>(std::move(options))) {}

  // Does what can be done without waiting.
  void advance() {
    for (Connections::Happening& happening : connections_->take()) {
      happened_.push_back(std::move(happening));
    }
  }

  // Waits for what happens next.
  Connections::Happening next() {
    while (happened_.empty()) {
      advance();
      if (!happened_.empty()) break;
      std::vector<pollfd> waiting;
      connections_->add_to(waiting);
      if (poll(waiting.data(), waiting.size(), patience_ms) == 0) {
        throw std::runtime_error("nothing has happened");
      }
    }
    Connections::Happening next = std::move(happened_.front());
    happened_.pop_front();
    return next;
  }

  // Waits for this to happen. Notifications may come first.
  template <typename What>
  What await() {
    while (true) {
      Connections::Happening happening = next();
      if (auto* what = std::get_if<What>(&happening)) return std::move(*what);
      if (std::holds_alternative<Connections::Notified>(happening)) continue;
      if (auto* lost = std::get_if<Connections::Disconnected>(&happening)) {
        throw std::runtime_error("disconnected: " + lost->why);
      }
      throw std::runtime_error("something else has happened");
    }
  }

  void connect(cluster::Channel channel) {
    connections_->connect(channel);
    (void)await<Connections::Connected>();
  }
  std::string fail_to_connect(cluster::Channel channel = cluster::Channel::work) {
    connections_->connect(channel);
    return await<Connections::Disconnected>().why;
  }
  cluster::Answer ask(cluster::Channel channel, cluster::Request request) {
    connections_->send(channel, std::move(request));
    auto answered = await<Connections::Answered>();
    if (!answered.why.empty()) throw std::runtime_error("failed: " + answered.why);
    return std::move(answered.answer);
  }
  template <typename Kind>
  Kind ask_for(cluster::Request request, cluster::Channel channel = cluster::Channel::work) {
    return std::get<Kind>(ask(channel, std::move(request)));
  }
  [[nodiscard]] Connections& connections() { return *connections_; }

 private:
  static constexpr int patience_ms = 60'000;

  std::unique_ptr<postgres::Connections> connections_;
  std::deque<Connections::Happening> happened_;
};

}  // namespace dutiful
