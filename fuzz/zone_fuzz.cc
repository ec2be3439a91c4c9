// Any file is a zone that can be walked, or refused; no damage reaches beyond that.

#include <cstdlib>

#include <dutiful/time.h>

#include "time/timeline.h"
#include "time/tzif.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace dutiful;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  auto parsed = parse_tzif(bytes);
  std::optional<Timeline> timeline;
  if (auto* contents = std::get_if<TzifContents>(&parsed)) {
    timeline.emplace(contents->initial, std::move(contents->transitions), contents->rule);
  } else if (const auto rule = parse_posix_rule(bytes)) {
    timeline.emplace(rule->standard, std::vector<Transition>{}, rule);
  }
  if (!timeline) return 0;

  // Segments follow each other without a hole, and are found where they are.
  auto segment = timeline->at(Instant::min());
  for (int i = 0; i < 3000; ++i) {
    const Instant end = segment->end;
    if (end == Instant::max()) break;
    if (segment->begin >= end) std::abort();
    if (timeline->at(end - Duration{1})->begin != segment->begin) std::abort();
    segment.to_next();
    if (segment->begin != end) std::abort();
    if (timeline->at(end)->begin != end) std::abort();
  }
  return 0;
}
