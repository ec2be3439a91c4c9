#include "cron/nonposix.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <span>
#include <utility>

namespace dutiful {
namespace {

constexpr std::array<std::string_view, 12> months{"january",
                                                  "february",
                                                  "march",
                                                  "april",
                                                  "may",
                                                  "june",
                                                  "july",
                                                  "august",
                                                  "september",
                                                  "october",
                                                  "november",
                                                  "december"};
constexpr std::array<std::string_view, 7> weekdays{
    "sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"};

constexpr std::array<std::pair<std::string_view, std::string_view>, 7> macros{{
    {"@yearly", "0 0 1 1 *"},
    {"@annually", "0 0 1 1 *"},
    {"@monthly", "0 0 1 * *"},
    {"@weekly", "0 0 * * 0"},
    {"@daily", "0 0 * * *"},
    {"@midnight", "0 0 * * *"},
    {"@hourly", "0 * * * *"},
}};

std::string lower_case(std::string_view text) {
  std::string out{text};
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
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
  const unsigned max = kind.name == weekday_field.name ? 7 : kind.max;
  if (*value < kind.min || *value > max) return std::nullopt;
  return value;
}

// Splits at the first separator; the second part is missing where there is none.
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
  std::span<const std::string_view> names;
  if (kind.name == month_field.name) names = months;
  if (kind.name == weekday_field.name) names = weekdays;

  const std::string wanted = lower_case(name);
  const auto found = std::ranges::find_if(names, [&](std::string_view known) {
    return wanted == known || wanted == known.substr(0, 3);
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
  if (kind.name == weekday_field.name && (mask >> 7 & 1) != 0) mask = (mask & kind.all()) | 1;
  return mask;
}

std::string_view expression_of_macro(std::string_view macro) {
  const std::string wanted = lower_case(macro);
  const auto* found =
      std::ranges::find(macros, wanted, [](const auto& pair) { return pair.first; });
  return found == macros.end() ? std::string_view{} : found->second;
}

}  // namespace dutiful
