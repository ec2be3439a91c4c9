// The interface of a subcommand to its environment.
#pragma once

#include <functional>
#include <iosfwd>

#include <dutiful/time.h>

namespace dutiful {

struct Console {
  std::ostream& out;  // results
  std::ostream& err;  // everything else
  std::function<Instant()> now;
};

// The exit statuses of every subcommand.
enum class Exit {
  done = 0,
  no = 1,     // the answer is "no": invalid, violated, failed
  usage = 2,  // wrong usage, or input that cannot be read
};

}  // namespace dutiful
