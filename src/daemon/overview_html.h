// The overview as a plain table, for browsers without JavaScript.
#pragma once

#include <cstddef>
#include <string>

#include <dutiful/status.h>
#include <dutiful/zone.h>

#include "daemon/api.h"

namespace dutiful {

// What a page of the table shows. Tasks that need attention come first: those that fail, then those
// that are overdue, then those that run.
struct Overview {
  SchedulerStatus status{};
  RecentLookup recent{};
  Zone zone = Zone::utc();
  std::size_t page = 1;  // beyond the last one: the last one
  std::size_t page_size = 100;
};

[[nodiscard]] std::string overview_html(const Overview& overview);

}  // namespace dutiful
