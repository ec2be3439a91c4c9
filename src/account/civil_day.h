// Civil days as stretches of time.
#pragma once

#include <dutiful/zone.h>

namespace dutiful {

// The instants in [begin, end).
struct CivilDay {
  Instant begin;
  Instant end;

  [[nodiscard]] bool contains(Instant instant) const { return begin <= instant && instant < end; }
};

// The day of that instant by the clocks of a zone. A day begins when the clocks first show a time
// of it. So every instant is in one day, even if the clocks are set back over midnight.
[[nodiscard]] CivilDay civil_day(const Zone& zone, Instant instant);

}  // namespace dutiful
