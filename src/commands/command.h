// The command of a task in a task file.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace dutiful {

struct Command {
  std::vector<std::string> arguments;                // the program first
  std::string directory{};                           // it runs in; empty: the daemon's own
  std::map<std::string, std::string> environment{};  // added to the daemon's own
  std::string user{};                                // it runs as; empty: the daemon's own

  friend bool operator==(const Command&, const Command&) = default;
};

}  // namespace dutiful
