// Any file is a zone that can be walked, or refused; no damage reaches beyond that.

#include <cstdlib>
#include <iostream>

#include "support/timeline_check.h"
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
  const std::string fault = fault_of_timeline(*timeline);
  if (!fault.empty()) {
    std::cerr << "violated: " << fault << '\n';
    std::abort();
  }
  return 0;
}
