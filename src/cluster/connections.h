// The connections of a member to its database, as its driver sees them.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "cluster/effect.h"

struct pollfd;

namespace dutiful::cluster {

// No call waits. What has happened is taken later, in the order in which it happened.
class Connections {
 public:
  struct Connected {
    Channel channel{};
  };
  // The connection could not be made, or is lost. A request that has no answer may have happened,
  // may happen later, or never.
  struct Disconnected {
    Channel channel{};
    std::string why;
  };
  struct Answered {
    Channel channel{};
    Answer answer;
    std::string why{};  // if it is Failed
  };
  // Something has changed that a look at the database would show.
  struct Notified {};
  using Happening = std::variant<Connected, Disconnected, Answered, Notified>;

  virtual ~Connections() = default;

  // Makes a new connection in place of any that there was, of which nothing more is heard.
  virtual void connect(Channel channel) = 0;
  // Requires a connection on which no request is on its way.
  virtual void send(Channel channel, Request request) = 0;
  [[nodiscard]] virtual std::vector<Happening> take() = 0;
  // Adds what to wait for until take() returns something.
  virtual void add_to(std::vector<pollfd>& waiting) const = 0;
};

}  // namespace dutiful::cluster
