// The tables of a cluster: made when the first member connects, checked by every one.
#pragma once

#include <cstddef>
#include <functional>

#include "postgres/address.h"
#include "postgres/round.h"

namespace dutiful::postgres {

// Of the tables. Stored, so it only grows.
inline constexpr int schema_version = 1;

struct Setup {
  std::size_t shards = 0;  // of a state that this makes
  Timeouts timeouts{};
  bool listens = false;  // for notifications
  // Told how many shards the state has.
  std::function<void(std::size_t)> learn_shards{};
};

// Prepares a session. Comes to Done, or to a Refusal if the schema belongs to another program or to
// a newer dutiful.
[[nodiscard]] Round set_up(const Setup& setup);

}  // namespace dutiful::postgres
