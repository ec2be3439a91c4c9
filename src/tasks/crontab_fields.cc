#include "tasks/crontab_fields.h"

#include <charconv>
#include <cstdint>
#include <optional>

#include "cron/field.h"
#include "cron/nonposix.h"
#include "text/characters.h"
#include "text/quote.h"
#include "text/scanner.h"

namespace dutiful {
namespace {

// The values that a field selects, or why it has no equivalent.
struct Chosen {
  std::uint64_t mask = 0;
  std::string fault{};
};

class FieldReader {
 public:
  FieldReader(const FieldKind& kind, std::string_view text)
      : kind_(kind), scanner_(text), max_(kind.field == Field::weekday ? 7 : kind.max) {}

  Chosen read() {
    do {
      read_element();
    } while (chosen_.fault.empty() && scanner_.read(','));
    if (chosen_.fault.empty() && !scanner_.at_end()) fail("is not valid in cron");
    if (kind_.field == Field::weekday && (chosen_.mask >> 7 & 1) != 0)
      chosen_.mask = (chosen_.mask & kind_.all()) | 1;
    return chosen_;
  }

 private:
  void fail(const char* fault) { chosen_.fault = fault; }

  void read_element() {
    unsigned low = kind_.min;
    unsigned high = max_;
    if (!scanner_.read('*')) {
      const auto first = read_value();
      if (!first) return;
      low = high = *first;
      if (!scanner_.read('-')) {
        if (scanner_.read('/'))
          return fail("has a step after a single number, which cron programs read differently");
        if (scanner_.read('~')) return fail("is a random time");
        chosen_.mask |= FieldKind::mask(low, low);
        return;
      }
      const auto last = read_value();
      if (!last) return;
      high = *last;
      if (low > high) return fail("has a backwards range, which cron never runs");
    } else if (scanner_.read('~')) {
      return fail("is a random time");
    }

    std::uint64_t step = 1;
    if (scanner_.read('/')) {
      const auto digits = scanner_.read_while(is_digit);
      step = number(digits);
      if (step == 0) return fail(digits.empty() ? "has no step after /" : "has a step of 0");
    }
    for (std::uint64_t value = low; value <= high; value += step)
      chosen_.mask |= FieldKind::mask(static_cast<unsigned>(value), static_cast<unsigned>(value));
  }

  // A number, or the first three letters of a name.
  std::optional<unsigned> read_value() {
    const auto word = scanner_.read_while([](char c) { return is_digit(c) || is_letter(c); });
    if (!word.empty() && is_digit(word[0]) &&
        word.find_first_not_of("0123456789") == std::string_view::npos) {
      const std::uint64_t value = number(word);
      if (value >= kind_.min && value <= max_) return static_cast<unsigned>(value);
      fail("has a number that is out of range");
      return std::nullopt;
    }
    if (word.size() == 3) {
      if (const auto value = value_of_name(kind_, word)) return value;
    }
    fail(word.empty() && scanner_.read('~') ? "is a random time" : "is not valid in cron");
    return std::nullopt;
  }

  // Numbers that are too large for any field are all the same.
  static std::uint64_t number(std::string_view digits) {
    std::uint32_t value = 0;
    const auto error = std::from_chars(digits.data(), digits.data() + digits.size(), value).ec;
    return error == std::errc::result_out_of_range ? ~std::uint32_t{0} : value;
  }

  const FieldKind& kind_;
  Scanner scanner_;
  unsigned max_;
  Chosen chosen_;
};

}  // namespace

std::variant<std::string, NoEquivalent> to_posix(const std::array<std::string_view, 5>& fields) {
  std::array<std::uint64_t, 5> masks{};
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const FieldKind& kind = field_kinds[i];
    const Chosen chosen = FieldReader{kind, fields[i]}.read();
    if (!chosen.fault.empty()) {
      return NoEquivalent{"the " + std::string{kind.name} + " field " + quote(fields[i]) + ' ' +
                          chosen.fault};
    }
    masks[i] = chosen.mask;
  }

  auto& days = masks[2];
  auto& weekdays = masks[4];
  const bool every_day = days == day_field.all();
  const bool every_weekday = weekdays == weekday_field.all();
  const bool both_must_match = fields[2].starts_with('*') || fields[4].starts_with('*');
  if (both_must_match && !every_day && !every_weekday) {
    return NoEquivalent{
        "cron runs it on days that match both " + quote(fields[2]) + " and " + quote(fields[4]) +
        ", but POSIX cron on days that match either; choose the days in the expression "
        "and test the weekday in the command"};
  }
  if (!both_must_match && (every_day || every_weekday)) {
    days = day_field.all();
    weekdays = weekday_field.all();
  }

  std::string expression;
  for (std::size_t i = 0; i < masks.size(); ++i)
    expression.append(i == 0 ? "" : " ").append(print_field(field_kinds[i], masks[i]));
  return expression;
}

}  // namespace dutiful
