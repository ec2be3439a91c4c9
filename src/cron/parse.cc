// The grammar of RULES C1. It only accepts or rejects; diagnosis.cc explains a rejection.

#include <dutiful/cron.h>

#include "cron/diagnosis.h"
#include "cron/field.h"

namespace dutiful {
namespace {

class Parser {
 public:
  explicit Parser(std::string_view text) : at_(text.data()), end_(text.data() + text.size()) {}

  void skip_blanks() {
    while (at_ != end_ && is_blank(*at_)) ++at_;
  }
  [[nodiscard]] bool at_end() const { return at_ == end_; }
  [[nodiscard]] bool at_star() const { return at_ != end_ && *at_ == '*'; }

  // The mask of the field that begins here; 0 if there is no valid field, because no field is
  // empty.
  std::uint64_t field(const FieldKind& kind) {
    std::uint64_t mask = 0;
    if (next_is('*')) {
      mask = kind.all();
    } else {
      do {
        const unsigned low = number();
        const unsigned high = next_is('-') ? number() : low;
        if (low < kind.min || low > high || high > kind.max) return 0;
        mask |= FieldKind::mask(low, high);
      } while (next_is(','));
    }
    return at_ == end_ || is_blank(*at_) ? mask : 0;
  }

 private:
  static constexpr unsigned none = 1000;  // out of every field's range

  bool next_is(char c) {
    if (at_ == end_ || *at_ != c) return false;
    ++at_;
    return true;
  }

  // A number below `none`; `none` for a larger number or no number.
  unsigned number() {
    unsigned value = at_ == end_ ? none : digit();
    if (value > 9) return none;
    for (++at_; at_ != end_ && digit() <= 9; ++at_) {
      value = value * 10 + digit();
      if (value > none) value = none;
    }
    return value;
  }

  [[nodiscard]] unsigned digit() const { return static_cast<unsigned>(*at_ - '0'); }

  const char* at_;
  const char* end_;
};

}  // namespace

std::optional<CronExpression> CronExpression::try_parse(std::string_view text) noexcept {
  Parser parser{text};
  std::array<std::uint64_t, 5> masks{};
  std::array<bool, 5> stars{};
  for (std::size_t i = 0; i < masks.size(); ++i) {
    parser.skip_blanks();
    stars[i] = parser.at_star();
    masks[i] = parser.field(field_kinds[i]);
    if (masks[i] == 0) return std::nullopt;
  }
  parser.skip_blanks();
  if (!parser.at_end()) return std::nullopt;

  // RULES C4: a bare star leaves the decision to the other field, if that one is restricted.
  const auto [minutes, hours, days, months, weekdays] = masks;
  const bool any_day = stars[2];
  const bool any_weekday = stars[4];
  return CronExpression{
      {.minutes = minutes,
       .hours = static_cast<std::uint32_t>(hours),
       .days = any_day && !any_weekday ? 0 : static_cast<std::uint32_t>(days),
       .months = static_cast<std::uint16_t>(months),
       .weekdays = any_weekday ? std::uint8_t{0} : static_cast<std::uint8_t>(weekdays)}};
}

CronExpression CronExpression::parse(std::string_view text) {
  if (const auto expression = try_parse(text)) return *expression;
  throw InvalidCronExpressionError(diagnose(text));
}

}  // namespace dutiful
