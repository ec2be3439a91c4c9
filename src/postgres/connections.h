// The connections of a member to a PostgreSQL database (RULES N).
#pragma once

#include <array>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <dutiful/calendar.h>
#include <dutiful/policies.h>

#include "cluster/connections.h"
#include "cluster/lease.h"
#include "posix/bell.h"
#include "postgres/address.h"
#include "postgres/requests.h"

namespace dutiful::postgres {

class Resolver;
class Session;

struct Options {
  std::string address;  // postgresql://…
  Calendar calendar;    // of the list
  Override override{};
  Duration lease = cluster::lease_default;
  std::size_t shards = 64;  // of a state that these connections make
  // Stands for the database's clock, in tests (RULES N9).
  std::function<Instant()> clock{};
  std::int64_t fold_after = 1024;  // entries in the journal of a shard
  Duration history = std::chrono::hours{24 * 30};
};

// For one thread. Each request is one transaction and one round trip, except that Apply takes two.
class Connections final : public cluster::Connections {
 public:
  // Throws a StoreError if the address is invalid.
  explicit Connections(Options options);
  ~Connections() override;
  Connections(const Connections&) = delete;
  Connections& operator=(const Connections&) = delete;

  void connect(cluster::Channel channel) override;
  void send(cluster::Channel channel, cluster::Request request) override;
  [[nodiscard]] std::vector<Happening> take() override;
  void add_to(std::vector<pollfd>& waiting) const override;

 private:
  struct Link {
    std::unique_ptr<Resolver> resolver;
    std::unique_ptr<Session> session;
    bool is_ready = false;  // the schema has been checked
    std::size_t shards = 0;
  };

  void open(cluster::Channel channel, Address address);
  void set_up(cluster::Channel channel);
  void advance(cluster::Channel channel);
  [[nodiscard]] std::string named(const std::string& why) const;
  [[nodiscard]] Link& link(cluster::Channel channel) {
    return links_[static_cast<std::size_t>(channel)];
  }

  Options options_;
  Address address_;
  std::array<Link, 2> links_;       // by channel
  std::deque<Happening> happened_;  // and was not taken yet
  Bell bell_;                       // rings while there is some
};

}  // namespace dutiful::postgres
