// The three kinds of time that dutiful speaks of.
#pragma once

#include <chrono>

namespace dutiful {

// A length of time, to the millisecond.
using Duration = std::chrono::milliseconds;

// A point on the one time line that everybody shares (UTC). All bookkeeping is in instants (RULES
// T2).
using Instant = std::chrono::sys_time<Duration>;

// A minute as a clock on the wall shows it, without saying where the wall is. Cron expressions
// choose civil minutes; only a Zone turns one into instants, and there may be none, one or two.
//
// The types do not mix: comparing an Instant with a CivilMinute does not compile.
using CivilMinute = std::chrono::local_time<std::chrono::minutes>;

// Civil years outside these are never searched: they print as four digits, as ISO 8601 wants them.
inline constexpr std::chrono::year year_min{1};
inline constexpr std::chrono::year year_max{9999};

}  // namespace dutiful
