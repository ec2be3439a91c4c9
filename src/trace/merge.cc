#include "trace/merge.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <tuple>
#include <utility>

namespace dutiful {
namespace {

// The order of events at one instant.
int rank_of(const TraceEvent& event) {
  if (std::holds_alternative<RunStart>(event)) return 2;
  const bool makes_room =
      std::holds_alternative<RunSuccess>(event) || std::holds_alternative<RunFailure>(event) ||
      std::holds_alternative<RunInterrupted>(event) || std::holds_alternative<Crash>(event);
  return makes_room ? 0 : 1;
}

// A run that an event is about.
struct NamedRun {
  const std::string& task;
  std::uint64_t fence;
  bool is_end;
};

// Nothing unless the event is about a run and says about which.
std::optional<NamedRun> run_of(const TraceEvent& event) {
  return std::visit(
      [](const auto& e) -> std::optional<NamedRun> {
        using Event = std::decay_t<decltype(e)>;
        if constexpr (requires { e.fence; }) {
          if (e.fence) return NamedRun{e.task, *e.fence, !std::is_same_v<Event, RunStart>};
        }
        return {};
      },
      event);
}

}  // namespace

TraceMerge::TraceMerge(const std::vector<TraceReader*>& readers) {
  for (TraceReader* reader : readers) lanes_.push_back({.reader = reader});
}

bool TraceMerge::read(TracedEvent& event) {
  for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
    if (lanes_[lane].ahead.empty()) read_ahead(lane);
    if (lanes_[lane].ahead.empty() && lanes_[lane].malformed) {
      trace_ = lane;
      throw MalformedTrace{*lanes_[lane].malformed};
    }
  }
  const std::size_t first = first_lane();
  if (first == lanes_.size()) return false;
  const Instant at = lanes_[first].ahead.front().event.at;
  // Far enough for an event that waits for another, which itself waits.
  const Instant horizon = at + 2 * skew_max;
  for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
    while (!lanes_[lane].at_end && lanes_[lane].ahead.back().event.at <= horizon) read_ahead(lane);
  }

  std::size_t next = first;
  // Each step leads to an event that must come earlier, so it ends unless the fences contradict the
  // order within the traces. In that case any of the events may be next.
  for (std::size_t steps = 0; steps < lanes_.size(); ++steps) {
    const std::size_t awaited = awaited_lane(next);
    if (awaited == lanes_.size()) break;
    next = awaited;
  }
  take(next, event);
  event.at = at;
  return true;
}

void TraceMerge::read_ahead(std::size_t lane) {
  auto& [reader, ahead, at_end, malformed] = lanes_[lane];
  if (at_end) return;
  TracedEvent event;
  try {
    at_end = !reader->read(event);
    if (at_end) return;
    if (event.member.empty()) {
      throw MalformedTrace(reader->line(),
                           "the field \"member\" is missing, which every event of a cluster has");
    }
  } catch (const MalformedTrace& error) {
    at_end = true;
    malformed = error;
    return;
  }
  if (const auto run = run_of(event.event)) {
    runs_[run->task].push_back({run->fence, run->is_end, lane, event.at});
  }
  ahead.push_back({std::move(event), reader->line()});
}

// The lane with the earliest event; their number if there are no events.
std::size_t TraceMerge::first_lane() const {
  std::size_t first = lanes_.size();
  const auto key = [this](std::size_t lane) {
    const TracedEvent& event = lanes_[lane].ahead.front().event;
    return std::pair{event.at, rank_of(event.event)};
  };
  for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
    if (lanes_[lane].ahead.empty()) continue;
    if (first == lanes_.size() || key(lane) < key(first)) first = lane;
  }
  return first;
}

// The lane with an event that must precede the next one of this lane; the number of lanes if there
// is none.
std::size_t TraceMerge::awaited_lane(std::size_t lane) const {
  const TracedEvent& event = lanes_[lane].ahead.front().event;
  const auto run = run_of(event.event);
  if (!run) return lanes_.size();
  const RunEvent* earliest = nullptr;
  const auto key = [](const RunEvent& e) { return std::tuple{e.fence, e.is_end, e.at, e.lane}; };
  for (const RunEvent& other : runs_.at(run->task)) {
    const bool precedes = std::pair{other.fence, other.is_end} < std::pair{run->fence, run->is_end};
    if (other.lane == lane || !precedes || other.at > event.at + skew_max) continue;
    if (earliest == nullptr || key(other) < key(*earliest)) earliest = &other;
  }
  return earliest == nullptr ? lanes_.size() : earliest->lane;
}

void TraceMerge::take(std::size_t lane, TracedEvent& event) {
  Ahead& taken = lanes_[lane].ahead.front();
  if (const auto run = run_of(taken.event.event)) {
    const auto place = runs_.find(run->task);
    // The events of a lane are entered in order, so the first one of this lane is the one taken.
    auto& events = place->second;
    events.erase(std::ranges::find(events, lane, &RunEvent::lane));
    if (events.empty()) runs_.erase(place);
  }
  trace_ = lane;
  line_ = taken.line;
  event = std::move(taken.event);
  lanes_[lane].ahead.pop_front();
}

}  // namespace dutiful
