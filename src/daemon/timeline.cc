#include "daemon/timeline.h"

#include <algorithm>

#include "text/characters.h"

namespace dutiful {

void add_running(std::vector<RunSpan>& runs,
                 const TaskStatus& task,
                 const TimelineWindow& window,
                 Instant now) {
  if (task.state != TaskStatus::State::running || !task.last_attempt) return;
  const Instant from = *task.last_attempt;
  if (from >= window.until || std::max(now, from) < window.from) return;
  if (!runs.empty() && runs.back().from == from) return;
  runs.push_back({.from = from, .until = std::max(now, from), .result = RunSpan::Result::running});
}

void merge(std::vector<RunSpan>& runs, Duration step) {
  if (runs.empty()) return;
  auto last = runs.begin();
  for (auto run = std::next(runs.begin()); run != runs.end(); ++run) {
    const bool is_near = step > Duration::zero() && run->from - last->until < step;
    if (is_near && run->result == last->result) {
      last->until = std::max(last->until, run->until);
      last->count += run->count;
    } else {
      *++last = *run;
    }
  }
  runs.erase(std::next(last), runs.end());
}

std::vector<PulseBand> pulse_bands(const Calendar& calendar,
                                   const CronExpression& cron,
                                   const TimelineWindow& window,
                                   Instant now,
                                   std::size_t limit) {
  std::vector<PulseBand> bands;
  const Instant last = window.until - Duration{1};
  Instant after = std::max(now, window.from - Duration{1});
  while (bands.size() < limit) {
    const auto first = calendar.find_next(cron, after);
    if (!first || *first > last) break;
    PulseBand band{.from = *first, .until = *first, .count = 1};
    // All pulses up to the last one within a step belong to the band, and so on from that one.
    while (window.step > Duration::zero()) {
      const Instant reach = std::min(last, band.until + window.step - Duration{1});
      const auto next = calendar.find_previous(cron, reach);
      if (!next || *next <= band.until) break;
      band.until = *next;
    }
    if (band.until > band.from) {
      band.count = calendar.count(cron, band.from - Duration{1}, band.until);
    }
    after = band.until;
    bands.push_back(band);
  }
  return bands;
}

std::vector<TimeStretch> downtimes(std::vector<Uptime> uptimes,
                                   const TimelineWindow& window,
                                   Instant now) {
  std::vector<TimeStretch> down;
  if (uptimes.empty()) return down;
  std::ranges::sort(uptimes, {}, &Uptime::started);
  const Instant end = std::min(window.until, now);
  Instant known = std::max(window.from, uptimes.front().started);  // up or down, before that
  for (const Uptime& uptime : uptimes) {
    const Instant until = std::min(uptime.started, end);
    if (known < until) down.push_back({known, until});
    known = std::max(known, uptime.seen);
  }
  if (known < end) down.push_back({known, end});
  return down;
}

}  // namespace dutiful
