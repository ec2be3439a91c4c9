// The policies that a user may choose (RULES, "policy"). The first of each is the default.
#pragma once

namespace dutiful {

// When a task is due whose civil minute occurs twice, because the clocks are set back (RULES T4).
enum class RepeatedMinutes {
  both,        // at both occurrences
  first_only,  // at the first one only
};

// What initialize() does on a running scheduler (RULES I4).
enum class Reinitialize {
  reject,     // throws SchedulerAlreadyActiveError
  reconcile,  // applies the new list without a stop; runs in progress continue
};

// What initialize() does with a task whose cron text or retry delay has changed (RULES P2).
enum class Override {
  keep_history,   // it continues, with the new configuration
  reset_history,  // it starts over, as a new task does
};

}  // namespace dutiful
