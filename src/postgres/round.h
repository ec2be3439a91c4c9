// A request as statements that go to the database and come back together.
#pragma once

#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "cluster/database.h"
#include "postgres/parameters.h"
#include "postgres/result.h"

namespace dutiful::postgres {

struct Command {
  std::string sql;
  Parameters parameters{};
};

struct Outcome;

// The commands of a round are one transaction, unless they begin or end one. Each sees what was
// committed before it began (READ COMMITTED): so a command that follows the locks sees what they
// protect as it is. `then` is called when all of it is durable.
struct Round {
  std::vector<Command> commands;
  std::function<Outcome(const Results&)> then;
};

// The database cannot be used, and why.
struct Refusal {
  std::string why;
};

// What comes of a round. Most requests take one; a transaction of two has begun explicitly.
struct Outcome {
  std::variant<cluster::Answer, Refusal, Round> value;
};

}  // namespace dutiful::postgres
