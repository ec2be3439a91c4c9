// What a page of metrics shows besides what was counted.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <dutiful/status.h>

#include "metrics/process_usage.h"

namespace dutiful {

// As it is when the page is made.
struct MetricsInput {
  SchedulerStatus status{};
  std::string version{};             // of this build
  std::uint64_t log_lines_lost = 0;  // since the daemon started
  ProcessUsage process{};
};

}  // namespace dutiful
