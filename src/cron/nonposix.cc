#include "cron/nonposix.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "text/characters.h"

namespace dutiful {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 7> macros{{
    {"@yearly", "0 0 1 1 *"},
    {"@annually", "0 0 1 1 *"},
    {"@monthly", "0 0 1 * *"},
    {"@weekly", "0 0 * * 0"},
    {"@daily", "0 0 * * *"},
    {"@midnight", "0 0 * * *"},
    {"@hourly", "0 * * * *"},
}};

bool equal_letters(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, {}, to_lower, to_lower);
}

std::optional<unsigned> read_number(std::string_view text) {
  unsigned value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// A number or a name. Weekday 7 stays 7, so that 5-7 is a range.
std::optional<unsigned> read_value(const FieldKind& kind, std::string_view text) {
  const auto value = read_number(text);
  if (!value) return value_of_name(kind, text);
  const unsigned max = kind.field == Field::weekday ? 7 : kind.max;
  if (*value < kind.min || *value > max) return std::nullopt;
  return value;
}

// Splits at the first separator; without one there is no second part.
std::pair<std::string_view, std::optional<std::string_view>> split(std::string_view text, char at) {
  const auto position = text.find(at);
  if (position == std::string_view::npos) return {text, std::nullopt};
  return {text.substr(0, position), text.substr(position + 1)};
}

std::optional<std::uint64_t> read_element(const FieldKind& kind, std::string_view text) {
  const auto [range, step_text] = split(text, '/');
  const auto step = step_text ? read_number(*step_text) : 1;
  if (!step || *step == 0) return std::nullopt;

  unsigned low = kind.min;
  unsigned high = kind.max;
  if (range == "*") {
    if (!step_text) return std::nullopt;  // a star in a list: programs disagree on its day rule
  } else {
    const auto [low_text, high_text] = split(range, '-');
    if (step_text && !high_text) return std::nullopt;  // 5/15: some run on to the end, some do not
    const auto first = read_value(kind, low_text);
    const auto last = high_text ? read_value(kind, *high_text) : first;
    if (!first || !last) return std::nullopt;
    low = *first;
    high = *last;
  }

  std::uint64_t mask = 0;
  if (low > high) {
    if (step_text || low > kind.max) return std::nullopt;
    mask = FieldKind::mask(low, kind.max) | FieldKind::mask(kind.min, high);
  } else {
    for (std::uint64_t value = low; value <= high; value += *step)
      mask |= std::uint64_t{1} << value;
  }
  return mask;
}

}  // namespace

std::optional<unsigned> value_of_name(const FieldKind& kind, std::string_view name) {
  const auto names = names_of(kind.field);
  const auto found = std::ranges::find_if(names, [name](std::string_view known) {
    return equal_letters(name, known) || equal_letters(name, known.substr(0, 3));
  });
  if (found == names.end()) return std::nullopt;
  return kind.min + static_cast<unsigned>(found - names.begin());
}

std::optional<std::uint64_t> read_nonposix_field(const FieldKind& kind, std::string_view text) {
  std::uint64_t mask = 0;
  for (std::optional<std::string_view> rest = text; rest;) {
    const auto [element, others] = split(*rest, ',');
    const auto chosen = read_element(kind, element);
    if (!chosen) return std::nullopt;
    mask |= *chosen;
    rest = others;
  }
  if (kind.field == Field::weekday && (mask >> 7 & 1) != 0) mask = (mask & kind.all()) | 1;
  return mask;
}

std::string_view expression_of_macro(std::string_view macro) {
  const auto* found = std::ranges::find_if(
      macros, [macro](const auto& known) { return equal_letters(macro, known.first); });
  return found == macros.end() ? std::string_view{} : found->second;
}

}  // namespace dutiful
