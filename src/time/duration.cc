#include "time/duration.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>

#include "text/quote.h"
#include "text/scanner.h"

namespace dutiful {
namespace {

struct Unit {
  std::string_view name;
  Duration length;
  std::array<std::string_view, 3> also;  // as systemd.time(7) spells it

  [[nodiscard]] bool is_spelled(std::string_view text) const {
    return text == name || (!text.empty() && std::ranges::find(also, text) != also.end());
  }
};
constexpr std::array<Unit, 5> units{{{"d", std::chrono::days{1}, {"day", "days"}},
                                     {"h", std::chrono::hours{1}, {"hr", "hour", "hours"}},
                                     {"m", std::chrono::minutes{1}, {"min", "minute", "minutes"}},
                                     {"s", std::chrono::seconds{1}, {"sec", "second", "seconds"}},
                                     {"ms", Duration{1}, {"msec"}}}};

bool is_space(char c) {
  return c == ' ';
}

// Without a sign.
std::variant<Duration, DurationFault> parse_length(std::string_view text) {
  Duration sum{};
  bool too_long = false;
  Scanner scanner{text};
  const auto* allowed = units.begin();
  while (true) {
    const std::string_view digits = scanner.read_while(is_digit);
    (void)scanner.read_while(is_space);
    const std::string_view name = scanner.read_while(is_letter);
    const auto* unit =
        std::find_if(allowed, units.end(), [name](const Unit& u) { return u.is_spelled(name); });
    if (digits.empty() || unit == units.end()) return DurationFault::malformed;
    allowed = unit + 1;

    std::int64_t count = 0;
    const auto error = std::from_chars(digits.data(), digits.data() + digits.size(), count).ec;
    if (error != std::errc{} || count > duration_max / unit->length) too_long = true;
    if (!too_long) sum += count * unit->length;
    if (scanner.at_end()) break;
    (void)scanner.read_while(is_space);
  }
  if (too_long || sum > duration_max) return DurationFault::too_long;
  return sum;
}

}  // namespace

std::variant<Duration, DurationFault> parse_duration(std::string_view text) {
  if (!text.starts_with('-')) return parse_length(text);
  const std::variant<Duration, DurationFault> malformed = DurationFault::malformed;
  return parse_length(text.substr(1)) == malformed ? malformed : DurationFault::negative;
}

std::string format_duration(Duration duration) {
  if (duration == Duration::zero()) return "0s";
  std::string out;
  for (const Unit& unit : units) {
    if (const auto count = duration / unit.length; count != 0)
      out.append(std::to_string(count)).append(unit.name);
    duration %= unit.length;
  }
  return out;
}

std::string explain_fault(std::string_view text, DurationFault fault) {
  switch (fault) {
    case DurationFault::negative:
      return quote(text) + " is negative; write 0s or more";
    case DurationFault::too_long:
      return quote(text) + " is longer than a hundred years; write at most 36525d";
    case DurationFault::malformed:
      break;
  }
  return quote(text) +
         " is not a duration; write whole numbers with d, h, m, s or ms, the largest first: "
         "0s, 250ms, 30s, 5m, 1h30m, 1d";
}

}  // namespace dutiful
