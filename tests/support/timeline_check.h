// Invariants of every timeline.
#pragma once

#include <string>

#include "time/timeline.h"

namespace dutiful {

// Walks the segments and returns the first fault; empty if there is none.
inline std::string fault_of_timeline(const Timeline& timeline) {
  auto segment = timeline.at(Instant::min());
  for (int i = 0; i < 3000; ++i) {
    const Instant end = segment->end;
    if (end == Instant::max()) break;
    if (segment->begin >= end) return "a segment is empty";
    if (timeline.at(end - Duration{1})->begin != segment->begin) return "its last instant is lost";
    segment.to_next();
    if (segment->begin != end) return "there is a hole";
    if (timeline.at(end)->begin != end) return "its first instant is lost";
  }
  return "";
}

}  // namespace dutiful
