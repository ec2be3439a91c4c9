#include "cli/time_argument.h"

#include <variant>

#include "cli/command_line.h"
#include "text/quote.h"
#include "time/clock_range.h"
#include "time/duration.h"
#include "time/iso8601.h"

namespace dutiful {
namespace {

Instant instant_of(const Timestamp& timestamp, const Zone& zone) {
  if (timestamp.offset) return timestamp.instant(*timestamp.offset);
  const Zone::Reading reading = zone.read(timestamp.local);
  if (const auto* unique = std::get_if<Zone::Unique>(&reading)) return unique->at;
  if (const auto* repeated = std::get_if<Zone::Repeated>(&reading)) return repeated->first;
  return std::get<Zone::Skipped>(reading).transition - Duration{1};
}

}  // namespace

Instant read_instant(const char* option, const std::string& text, const Zone& zone) {
  const auto timestamp = parse_timestamp(text);
  if (!timestamp) {
    throw UsageError(std::string{option} + ": " + quote(text) +
                     " is not a time; write one such as 2025-11-02T01:30:00-04:00, "
                     "2025-11-02T05:30:00Z, or 2025-11-02T01:30:00 for local time");
  }
  return instant_of(*timestamp, zone);
}

Instant read_past(const char* option, const std::string& text, const Zone& zone, Instant now) {
  if (const auto timestamp = parse_timestamp(text)) return instant_of(*timestamp, zone);
  const auto length = parse_duration(text);
  if (const auto* ago = std::get_if<Duration>(&length)) return into_clock_range(now - *ago);
  if (std::get<DurationFault>(length) != DurationFault::malformed) {
    throw UsageError(std::string{option} + ": " +
                     explain_fault(text, std::get<DurationFault>(length)));
  }
  throw UsageError(
      std::string{option} + ": " + quote(text) +
      " is neither a time nor a duration; write a time such as 2025-11-02T05:30:00Z, or "
      "how long ago it was, such as 2h");
}

}  // namespace dutiful
