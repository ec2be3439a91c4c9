// Times as people read them.
#pragma once

#include <string>

#include <dutiful/zone.h>

namespace dutiful {

// The local time of the zone: 2026-10-25 01:30:00. A time that occurs twice, because the clocks are
// set back, carries its UTC offset: 2026-10-25 02:30:00 +01:00. So every text is unambiguous.
[[nodiscard]] std::string local_text(Instant instant, const Zone& zone);

}  // namespace dutiful
