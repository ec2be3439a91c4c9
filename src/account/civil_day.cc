#include "account/civil_day.h"

#include <variant>

namespace dutiful {
namespace {

using std::chrono::days;
using std::chrono::local_days;

Instant begin_of(const Zone& zone, local_days day) {
  const Zone::Reading midnight = zone.read(day);
  if (const auto* skipped = std::get_if<Zone::Skipped>(&midnight)) return skipped->transition;
  if (const auto* repeated = std::get_if<Zone::Repeated>(&midnight)) return repeated->first;
  return std::get<Zone::Unique>(midnight).at;
}

}  // namespace

CivilDay civil_day(const Zone& zone, Instant instant) {
  const std::chrono::local_time<Duration> local{instant.time_since_epoch() +
                                                zone.offset_at(instant)};
  auto day = std::chrono::floor<days>(local);
  // If the clocks were set back over midnight, the next day has already begun.
  Instant end = begin_of(zone, day + days{1});
  for (; end <= instant; end = begin_of(zone, day + days{1})) ++day;
  return {begin_of(zone, day), end};
}

}  // namespace dutiful
