// What users may choose differently from the default (RULES, "policy").
#pragma once

namespace dutiful {

// What becomes of a civil minute that occurs twice because the clocks were set back (RULES T4).
enum class RepeatedMinutes {
  both,        // it is due both times
  first_only,  // only the first occurrence is due
};

// A second initialize() on a running scheduler (RULES I4).
enum class Reinitialize {
  reject,     // throws SchedulerAlreadyActiveError
  reconcile,  // applies the new list without stopping: running callbacks go on
};

// A task that comes with another cron text or retry delay than before (RULES P2).
enum class Override {
  keep_history,   // it goes on with the new configuration
  reset_history,  // it starts over as if it came for the first time
};

}  // namespace dutiful
