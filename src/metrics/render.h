// The page of metrics.
#pragma once

#include <string>

#include "metrics/counts.h"
#include "metrics/metrics_input.h"

namespace dutiful {

// In the Prometheus text format. docs/metrics.md describes every metric.
[[nodiscard]] std::string metrics_page(const Counts& counts, const MetricsInput& input);

}  // namespace dutiful
