// What owes a task a run (RULES K2).
#pragma once

#include <algorithm>
#include <chrono>

#include "core/task.h"

namespace dutiful {

// A working scheduler starts what is due within this. A task that is owed a run for longer is
// overdue.
inline constexpr std::chrono::seconds punctual{1};

// The pending obligations of a task that does not run, each with the instant at which it arose;
// no_instant: it is not pending.
struct Obligations {
  Instant orphan = no_instant;
  Instant boot = no_instant;
  Instant retry = no_instant;
  Instant pulse = no_instant;

  // When the first of them arose; Instant::max() if none is pending.
  [[nodiscard]] constexpr Instant earliest() const {
    return std::min(std::min(or_never(orphan), or_never(boot)),
                    std::min(or_never(retry), or_never(pulse)));
  }
  [[nodiscard]] constexpr bool any() const { return earliest() != Instant::max(); }

  // Why the task starts. Requires one that is pending. A retry that is due no later than the pulse
  // precedes it; an earlier pulse pre-empts the retry (K6).
  [[nodiscard]] constexpr Reason reason() const {
    if (orphan != no_instant) return Reason::orphan;
    if (boot != no_instant) return Reason::boot;
    return or_never(retry) <= or_never(pulse) ? Reason::retry : Reason::cron;
  }

  [[nodiscard]] constexpr Instant since(Reason reason) const {
    switch (reason) {
      case Reason::orphan:
        return orphan;
      case Reason::boot:
        return boot;
      case Reason::retry:
        return retry;
      case Reason::cron:
        break;
    }
    return pulse;
  }

 private:
  [[nodiscard]] static constexpr Instant or_never(Instant since) {
    return since == no_instant ? Instant::max() : since;
  }
};

// `pulse` is the earliest pulse that has come and is not served; no_instant: none.
[[nodiscard]] constexpr Obligations obligations_of(const TaskProgress& progress,
                                                   Instant pulse,
                                                   Instant now) {
  return {.orphan = progress.orphan_pending ? progress.last_attempt : no_instant,
          .boot = progress.boot_pending ? progress.first_coming : no_instant,
          .retry = progress.retry_at <= now ? progress.retry_at : no_instant,
          .pulse = pulse};
}

}  // namespace dutiful
