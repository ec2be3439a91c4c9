// A timeline: what happened to tasks in a stretch of time, and what will be due in it. Pure: no
// file and no clock is read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <dutiful/calendar.h>
#include <dutiful/status.h>

#include "daemon/run_span.h"
#include "daemon/uptime.h"

namespace dutiful {

// The instants in [from, until).
struct TimelineWindow {
  Instant from{};
  Instant until{};
  Duration step{};  // what is closer than this is drawn as one; zero: nothing is
};

// Adds the run in progress, if there is one and it overlaps the window. The history may have it
// already, if its end is about to be recorded.
void add_running(std::vector<RunSpan>& runs,
                 const TaskStatus& task,
                 const TimelineWindow& window,
                 Instant now);
// Merges neighbours with the same result that are less than a step apart. The runs are in order.
void merge(std::vector<RunSpan>& runs, Duration step);

// Several pulses, each less than a step after the one before.
struct PulseBand {
  Instant from{};   // the first
  Instant until{};  // the last
  std::int64_t count = 0;

  friend bool operator==(const PulseBand&, const PulseBand&) = default;
};
// The pulses in the window after `now`; at most `limit` bands, the first ones. The time that this
// takes depends on the number of steps, and hardly on the number of pulses.
[[nodiscard]] std::vector<PulseBand> pulse_bands(const Calendar& calendar,
                                                 const CronExpression& cron,
                                                 const TimelineWindow& window,
                                                 Instant now,
                                                 std::size_t limit);

struct TimeStretch {
  Instant from{};
  Instant until{};

  friend bool operator==(const TimeStretch&, const TimeStretch&) = default;
};
// The parts of the window before `now` in which no daemon is known to have run, except those before
// the first uptime, of which nothing is known.
[[nodiscard]] std::vector<TimeStretch> downtimes(std::vector<Uptime> uptimes,
                                                 const TimelineWindow& window,
                                                 Instant now);

}  // namespace dutiful
