#include "daemon/local_time.h"

#include <variant>

#include "time/iso8601.h"

namespace dutiful {

std::string local_text(Instant instant, const Zone& zone) {
  constexpr std::size_t date = 10;
  constexpr std::size_t time = 19;
  const std::chrono::seconds offset = zone.offset_at(instant);
  const std::string iso = format_second(instant, offset);
  const std::chrono::local_time<Duration> local{(instant + offset).time_since_epoch()};

  std::string text = iso.substr(0, date) + ' ' + iso.substr(date + 1, time - date - 1);
  if (std::holds_alternative<Zone::Repeated>(zone.read(local))) text += ' ' + iso.substr(time);
  return text;
}

}  // namespace dutiful
