// What a task of a file does: a command of the operating system.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace dutiful {

struct Command {
  std::vector<std::string> arguments;                // the program, then what it is given
  std::string directory{};                           // where it runs; empty: where the daemon does
  std::map<std::string, std::string> environment{};  // added to the daemon's own
  std::string user{};                                // whom it runs as; empty: the daemon's own

  friend bool operator==(const Command&, const Command&) = default;
};

}  // namespace dutiful
