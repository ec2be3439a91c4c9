// One connection to PostgreSQL, on which one round at a time is under way.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "postgres/address.h"
#include "postgres/round.h"

struct pg_conn;
struct pollfd;

namespace dutiful::postgres {

// No call waits. Nothing more happens after Broken.
class Session {
 public:
  struct Opened {};
  struct Broken {
    std::string why;
  };
  // The round, and those that followed from it, are over. If it failed, nothing of it has happened.
  struct Finished {
    cluster::Answer answer;
    std::string why{};
  };
  struct Refused {
    std::string why;
  };
  struct Notified {};
  using Event = std::variant<Opened, Broken, Finished, Refused, Notified>;

  // Begins to connect. The address has no names to be resolved.
  explicit Session(Address address);

  // Requires that it has opened, and that no round is under way.
  void start(Round round);
  [[nodiscard]] std::vector<Event> advance();
  void add_to(std::vector<pollfd>& waiting) const;

 private:
  enum class State : std::uint8_t { connecting, open, broken };
  struct Closer {
    void operator()(pg_conn* connection) const;
  };

  void connect_further(std::vector<Event>& events);
  void read(std::vector<Event>& events);
  void take_results(std::vector<Event>& events);
  void finish_round(std::vector<Event>& events);
  void fail(std::string why, std::vector<Event>& events);
  void send();
  void break_off(std::vector<Event>& events);
  [[nodiscard]] short awaited() const;

  Address address_;
  std::unique_ptr<pg_conn, Closer> handle_;
  State state_ = State::connecting;
  bool wants_to_write_ = true;  // to the socket, as far as libpq has said
  std::optional<Round> round_;
  Results results_;
  std::optional<std::string> error_;  // the first of the round
};

}  // namespace dutiful::postgres
