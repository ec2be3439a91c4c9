// One life of a victim, from its first printed line to its death.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "faults/fault.h"
#include "faults/words.h"

namespace dutiful::faults {

struct Life {
  Words words;
  int status = 0;     // as from waitpid()
  bool hung = false;  // it printed nothing for a minute and was killed

  [[nodiscard]] bool was_killed() const;
  [[nodiscard]] bool has_exited() const;  // normally
};

struct Conditions {
  std::string directory;               // of its state
  std::vector<std::string> arguments;  // after the directory
  std::optional<Fault> fault{};
  std::string log{};  // where its calls are logged; empty: nowhere
};

[[nodiscard]] Life live(const Conditions& conditions);

}  // namespace dutiful::faults
