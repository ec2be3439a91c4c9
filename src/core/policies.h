// What users may choose differently (the rules marked "policy").
#pragma once

#include <cstddef>

#include <dutiful/calendar.h>

namespace dutiful {

// A second initialize() on a running scheduler (RULES I4).
enum class Reinitialize { reject, reconcile };

// A task that comes with another cron text or retry delay (RULES P2).
enum class Override { keep_history, reset_history };

struct Policies {
  RepeatedMinutes repeated_minutes = RepeatedMinutes::both;
  Reinitialize reinitialize = Reinitialize::reject;
  Override override = Override::keep_history;
  std::size_t max_concurrent = 0;  // runs at one time (RULES X1); 0: no bound
};

}  // namespace dutiful
