// The traces of several members as one (RULES N11).
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "trace/lines.h"

namespace dutiful {

// Merges traces by time, while they are read. Events of one instant are ordered so that what makes
// room comes first: ends, interruptions and crashes, then everything else, then starts.
//
// The clocks of members differ a little, so time alone may put the start of a run before the end of
// the run that it followed. Fences show the right order (RULES P8): an event of a task waits for
// the events of that task with a smaller fence, if they are at most `skew_max` later. These events,
// and those before them in their trace, then get the instant of the event that waits. So the order
// within each trace is kept, and no instant is before the previous one.
//
//   m1: 12:00:00.000 RunStart   a fence 1      12:00:00.000 m1 RunStart   a fence 1
//       12:00:05.300 RunSuccess a fence 1  =>  12:00:05.100 m1 RunSuccess a fence 1
//   m2: 12:00:05.100 RunStart   a fence 2      12:00:05.100 m2 RunStart   a fence 2
class TraceMerge {
 public:
  static constexpr Duration skew_max = std::chrono::seconds{1};

  // The readers must outlive the merge.
  explicit TraceMerge(const std::vector<TraceReader*>& readers);

  // Reads the next event; returns false at the end. Throws MalformedTrace, also if an event has no
  // member; then trace() is the number of that trace.
  bool read(TracedEvent& event);

  // Where the event read last is from: the number of its trace, from 0, and its line.
  [[nodiscard]] std::size_t trace() const { return trace_; }
  [[nodiscard]] std::size_t line() const { return line_; }

 private:
  struct Ahead {
    TracedEvent event;
    std::size_t line;
  };
  struct Lane {
    TraceReader* reader;
    std::deque<Ahead> ahead{};  // read, but not returned
    bool at_end = false;
    std::optional<MalformedTrace> malformed{};  // thrown once the events before it are returned
  };
  // An event about a run that was read, but not returned.
  struct RunEvent {
    std::uint64_t fence;
    bool is_end;  // follows the start with the same fence
    std::size_t lane;
    Instant at;
  };

  void read_ahead(std::size_t lane);
  [[nodiscard]] std::size_t first_lane() const;
  [[nodiscard]] std::size_t awaited_lane(std::size_t lane) const;
  void take(std::size_t lane, TracedEvent& event);

  std::vector<Lane> lanes_;
  std::unordered_map<std::string, std::vector<RunEvent>> runs_;  // by task
  std::size_t trace_ = 0;
  std::size_t line_ = 0;
};

}  // namespace dutiful
