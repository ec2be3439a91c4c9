// The three kinds of time: durations, instants and civil minutes.
#pragma once

#include <chrono>

namespace dutiful {

// A length of time, to the millisecond.
using Duration = std::chrono::milliseconds;

// An absolute point in time (UTC), to the millisecond. The scheduler records everything in instants
// (RULES T2).
using Instant = std::chrono::sys_time<Duration>;

// A minute as a clock on the wall shows it, in no particular zone. A cron expression chooses civil
// minutes. Only a Zone turns a civil minute into instants; there may be none, one or two.
//
// The types do not mix: comparing an Instant with a CivilMinute does not compile.
using CivilMinute = std::chrono::local_time<std::chrono::minutes>;

// The civil years in which tasks can be due. They have four digits, as ISO 8601 requires.
inline constexpr std::chrono::year year_min{1};
inline constexpr std::chrono::year year_max{9999};

}  // namespace dutiful
