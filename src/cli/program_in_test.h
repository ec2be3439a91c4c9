// Runs the program inside a test, by default at noon UTC on 1 June 2025.
#pragma once

#include <sstream>
#include <string>
#include <vector>

#include "cli/program.h"
#include "support/times.h"

namespace dutiful {

struct Result {
  int status;
  std::string out;
  std::string err;
};

inline Result dutiful(const std::vector<std::string>& arguments,
                      Instant now = at("2025-06-01T12:00:00Z")) {
  std::ostringstream out;
  std::ostringstream err;
  Console console{.out = out, .err = err, .now = [now] { return now; }};
  const Exit status = run_program(arguments, console);
  return {static_cast<int>(status), out.str(), err.str()};
}

}  // namespace dutiful
