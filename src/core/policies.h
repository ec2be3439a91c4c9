// The policies of a scheduler.
#pragma once

#include <cstddef>

#include <dutiful/policies.h>

namespace dutiful {

struct Policies {
  RepeatedMinutes repeated_minutes = RepeatedMinutes::both;
  Reinitialize reinitialize = Reinitialize::reject;
  Override override = Override::keep_history;
  std::size_t max_concurrent = 0;  // runs at one time (RULES X1); 0: no bound
};

}  // namespace dutiful
