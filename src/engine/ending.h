// How a run has ended.
#pragma once

#include <string>

#include <dutiful/time.h>

#include "core/core.h"

namespace dutiful {

struct Ending {
  Outcome outcome;
  std::string error{};
  Instant at;         // when the callback returned (RULES H10)
  Duration duration;  // by a clock that is never set
};

}  // namespace dutiful
