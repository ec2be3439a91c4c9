// The answer to a request for a timeline.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include <dutiful/calendar.h>
#include <dutiful/status.h>

#include "daemon/run_span.h"
#include "daemon/uptime.h"
#include "http/request.h"
#include "http/response.h"

namespace dutiful {

// Where timelines come from.
struct TimelineSources {
  // Makes a reader for one answer, which may be used by one thread at a time. Both throw
  // HistoryError.
  using Spans = std::function<std::vector<std::vector<RunSpan>>(const SpanQuery&)>;
  std::function<Spans()> open_history;
  // All that are known, with that of the present daemon up to the instant.
  std::function<std::vector<Uptime>(Instant now)> uptimes;
};

// The uptimes in a history, and that of the daemon that runs since `up_since`: it lasts until now.
// The history may not have that yet.
[[nodiscard]] std::vector<Uptime> with_present(std::vector<Uptime> uptimes,
                                               std::optional<Instant> up_since,
                                               Instant now);

// As docs/http.md describes it. Throws BadRequest and HistoryError.
[[nodiscard]] http::Response timeline_response(const http::Request& request,
                                               SchedulerStatus status,
                                               const Calendar& calendar,
                                               const TimelineSources& sources);

}  // namespace dutiful
