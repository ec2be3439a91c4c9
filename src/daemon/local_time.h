// Times as people read them.
#pragma once

#include <string>

#include <dutiful/zone.h>

namespace dutiful {

// The time that the zone's clocks show: 2026-10-25 01:30:00. A time that they show twice, because
// they are set back, carries its UTC offset: 2026-10-25 02:30:00 +01:00. So no text means two
// instants.
[[nodiscard]] std::string local_text(Instant instant, const Zone& zone);

}  // namespace dutiful
