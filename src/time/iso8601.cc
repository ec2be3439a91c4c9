#include "time/iso8601.h"

#include "text/scanner.h"

namespace dutiful {
namespace {

using namespace std::chrono_literals;
using std::chrono::local_time;
using std::chrono::seconds;

bool read_two(Scanner& scanner, int max, int& value) {
  return scanner.read_number({2, 2}, {0, max}, value);
}

// The digits after the point. Only the first three count.
bool read_fraction(Scanner& scanner, Duration& fraction) {
  std::string digits{scanner.read_while(is_digit)};
  if (digits.empty()) return false;
  digits.resize(3, '0');
  fraction = Duration{std::stoi(digits)};
  return true;
}

bool read_offset(Scanner& scanner, std::optional<seconds>& offset) {
  if (scanner.read('Z') || scanner.read('z')) {
    offset = 0s;
    return true;
  }
  const bool behind = scanner.read('-');
  if (!behind && !scanner.read('+')) return false;
  int hour = 0;
  int minute = 0;
  int second = 0;
  if (!read_two(scanner, 24, hour)) return false;
  if (!scanner.at_end()) {
    const bool colons = scanner.read(':');
    if (!read_two(scanner, 59, minute)) return false;
    if (colons && scanner.read(':') && !read_two(scanner, 59, second)) return false;
  }
  const seconds size = std::chrono::hours{hour} + std::chrono::minutes{minute} + seconds{second};
  offset = behind ? -size : size;
  return true;
}

void append_number(std::string& out, std::int64_t value, std::size_t digits) {
  const std::string text = std::to_string(value);
  if (text.size() < digits) out.append(digits - text.size(), '0');
  out.append(text);
}

// Overwrites so many characters. Requires a number that fits.
void write_number(char* place, std::int64_t value, std::size_t digits) {
  for (; digits > 0; value /= 10) place[--digits] = static_cast<char>('0' + value % 10);
}

// 2025-11-02T01:30
void append_minute(std::string& out, CivilMinute minute) {
  const auto day = std::chrono::floor<std::chrono::days>(minute);
  const std::chrono::year_month_day date{day};
  const std::chrono::hh_mm_ss time{minute - day};
  append_number(out, int{date.year()}, 4);
  append_number(out.append("-"), unsigned{date.month()}, 2);
  append_number(out.append("-"), unsigned{date.day()}, 2);
  append_number(out.append("T"), time.hours().count(), 2);
  append_number(out.append(":"), time.minutes().count(), 2);
}

// Appends the minute and returns the rest of the instant.
Duration append_minute(std::string& out, Instant instant, seconds offset) {
  const local_time<Duration> local{instant.time_since_epoch() + offset};
  const auto minute = std::chrono::floor<std::chrono::minutes>(local);
  append_minute(out, minute);
  return local - minute;
}

}  // namespace

Instant Timestamp::instant(seconds at_offset) const {
  return Instant{local.time_since_epoch() - at_offset};
}

std::optional<Timestamp> parse_timestamp(std::string_view text) {
  Scanner scanner{text};
  int year = 0;
  int month = 0;
  int day = 0;
  int hour = 0;
  int minute = 0;
  int second = 0;
  Duration fraction{};
  std::optional<seconds> offset;
  if (!scanner.read_number({4, 4}, {int{year_min}, int{year_max}}, year) || !scanner.read('-') ||
      !read_two(scanner, 12, month) || !scanner.read('-') || !read_two(scanner, 31, day)) {
    return std::nullopt;
  }
  if (!scanner.read('T') && !scanner.read('t') && !scanner.read(' ')) return std::nullopt;
  if (!read_two(scanner, 23, hour) || !scanner.read(':') || !read_two(scanner, 59, minute)) {
    return std::nullopt;
  }
  if (scanner.read(':')) {
    if (!read_two(scanner, 59, second)) return std::nullopt;
    if ((scanner.read('.') || scanner.read(',')) && !read_fraction(scanner, fraction)) {
      return std::nullopt;
    }
  }
  if (!scanner.at_end() && (!read_offset(scanner, offset) || !scanner.at_end())) {
    return std::nullopt;
  }

  const std::chrono::year_month_day date{std::chrono::year{year},
                                         std::chrono::month{static_cast<unsigned>(month)},
                                         std::chrono::day{static_cast<unsigned>(day)}};
  if (!date.ok()) return std::nullopt;
  return Timestamp{std::chrono::local_days{date} + std::chrono::hours{hour} +
                       std::chrono::minutes{minute} + seconds{second} + fraction,
                   offset};
}

std::string format_second(Instant instant, seconds offset) {
  std::string out;
  const Duration rest = append_minute(out, instant, offset);
  append_number(out.append(":"), std::chrono::floor<seconds>(rest).count(), 2);

  const std::chrono::hh_mm_ss size{std::chrono::abs(offset)};
  append_number(out.append(offset < 0s ? "-" : "+"), size.hours().count(), 2);
  append_number(out.append(":"), size.minutes().count(), 2);
  if (size.seconds() != 0s) append_number(out.append(":"), size.seconds().count(), 2);
  return out;
}

std::string format_utc(Instant instant) {
  std::string out;
  append_utc(out, instant);
  return out;
}

// Lists of tasks have many instants, so this does without the pieces that the others use.
void append_utc(std::string& out, Instant instant) {
  const auto day = std::chrono::floor<std::chrono::days>(instant);
  const std::chrono::year_month_day date{day};
  const std::chrono::hh_mm_ss time{instant - day};
  const int year{date.year()};
  if (year < 0 || year > 9999) {  // has as many digits as it needs
    const Duration rest = append_minute(out, instant, 0s);
    append_number(out.append(":"), rest / 1s, 2);
    append_number(out.append("."), (rest % 1s).count(), 3);
    out += 'Z';
    return;
  }
  const std::size_t begin = out.size();
  out += "0000-00-00T00:00:00.000Z";
  char* const text = out.data() + begin;
  write_number(text, year, 4);
  write_number(text + 5, unsigned{date.month()}, 2);
  write_number(text + 8, unsigned{date.day()}, 2);
  write_number(text + 11, time.hours().count(), 2);
  write_number(text + 14, time.minutes().count(), 2);
  write_number(text + 17, time.seconds().count(), 2);
  write_number(text + 20, time.subseconds().count(), 3);
}

std::string format_minute(CivilMinute minute) {
  std::string out;
  append_minute(out, minute);
  return out;
}

}  // namespace dutiful
