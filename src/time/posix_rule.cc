#include "time/posix_rule.h"

#include <utility>

#include "text/scanner.h"

namespace dutiful {
namespace {

using std::chrono::seconds;

// EST, or <+03>: at least three characters.
bool read_name(Scanner& scanner) {
  const bool quoted = scanner.read('<');
  const auto name = scanner.read_while([quoted](char c) {
    return is_letter(c) || (quoted && (is_digit(c) || c == '+' || c == '-'));
  });
  return name.size() >= 3 && (!quoted || scanner.read('>'));
}

// [+-]h[h[h]][:mm[:ss]]
bool read_time(Scanner& scanner, int hours_max, seconds& time) {
  const bool negative = scanner.read('-');
  if (!negative) scanner.read('+');
  int hour = 0;
  int minute = 0;
  int second = 0;
  if (!scanner.read_number({1, 3}, {0, hours_max}, hour)) return false;
  if (scanner.read(':') && !scanner.read_number({2, 2}, {0, 59}, minute)) return false;
  if (scanner.read(':') && !scanner.read_number({2, 2}, {0, 59}, second)) return false;
  time = std::chrono::hours{hour} + std::chrono::minutes{minute} + seconds{second};
  if (negative) time = -time;
  return true;
}

bool read_date(Scanner& scanner, PosixRule::Date& date) {
  using Kind = PosixRule::Date::Kind;
  if (scanner.read('M')) {
    date.kind = Kind::month_week_weekday;
    if (!scanner.read_number({1, 2}, {1, 12}, date.month) || !scanner.read('.') ||
        !scanner.read_number({1, 1}, {1, 5}, date.week) || !scanner.read('.') ||
        !scanner.read_number({1, 1}, {0, 6}, date.weekday)) {
      return false;
    }
  } else if (scanner.read('J')) {
    date.kind = Kind::day_of_365;
    if (!scanner.read_number({1, 3}, {1, 365}, date.day)) return false;
  } else {
    date.kind = Kind::day_of_366;
    if (!scanner.read_number({1, 3}, {0, 365}, date.day)) return false;
  }
  date.time = std::chrono::hours{2};
  return !scanner.read('/') || read_time(scanner, 167, date.time);
}

}  // namespace

std::chrono::local_seconds PosixRule::Date::in(std::chrono::year year) const {
  using namespace std::chrono;
  const local_days new_year{year / January / 1};
  switch (kind) {
    case Kind::month_week_weekday: {
      const auto in_month = year / month;
      const std::chrono::weekday which{static_cast<unsigned>(weekday)};
      return (week == 5 ? local_days{in_month / which[last]}
                        : local_days{in_month / which[static_cast<unsigned>(week)]}) +
             time;
    }
    case Kind::day_of_365:
      return new_year + days{day - 1 + (year.is_leap() && day >= 60 ? 1 : 0)} + time;
    case Kind::day_of_366:
      return new_year + days{day} + time;
  }
  return {};
}

std::array<Transition, 2> PosixRule::transitions_in(std::chrono::year year) const {
  const auto at = [](std::chrono::local_seconds local, seconds offset) {
    return std::chrono::sys_seconds{local.time_since_epoch() - offset};
  };
  std::array<Transition, 2> both{{{at(daylight->start.in(year), standard), daylight->offset},
                                  {at(daylight->end.in(year), daylight->offset), standard}}};
  if (both[1].at < both[0].at) std::swap(both[0], both[1]);
  return both;
}

std::optional<PosixRule> parse_posix_rule(std::string_view text) {
  Scanner scanner{text};
  PosixRule rule{};

  // POSIX counts offsets westward: EST5 is five hours behind UTC.
  if (!read_name(scanner) || !read_time(scanner, 24, rule.standard)) return std::nullopt;
  rule.standard = -rule.standard;
  if (scanner.at_end()) return rule;

  PosixRule::Daylight daylight{};
  if (!read_name(scanner)) return std::nullopt;
  daylight.offset = rule.standard + std::chrono::hours{1};
  if (!scanner.read(',')) {
    if (!read_time(scanner, 24, daylight.offset) || !scanner.read(',')) return std::nullopt;
    daylight.offset = -daylight.offset;
  }
  if (!read_date(scanner, daylight.start) || !scanner.read(',') ||
      !read_date(scanner, daylight.end) || !scanner.at_end()) {
    return std::nullopt;
  }
  rule.daylight = daylight;
  return rule;
}

}  // namespace dutiful
