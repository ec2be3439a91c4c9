// The five fields of a cron expression.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dutiful {

enum class Field { minute, hour, day, month, weekday };

// A field's name (RULES C6) and its values (RULES C2).
struct FieldKind {
  Field field;
  std::string_view name;
  unsigned min;
  unsigned max;

  // The mask of the values from `low` to `high`. Requires low <= high <= 63.
  [[nodiscard]] static constexpr std::uint64_t mask(unsigned low, unsigned high) {
    return (~std::uint64_t{0} >> (63 - (high - low))) << low;
  }
  [[nodiscard]] constexpr std::uint64_t all() const { return mask(min, max); }
};

inline constexpr std::array<FieldKind, 5> field_kinds{{
    {Field::minute, "minute", 0, 59},
    {Field::hour, "hour", 0, 23},
    {Field::day, "day", 1, 31},
    {Field::month, "month", 1, 12},
    {Field::weekday, "weekday", 0, 6},
}};
inline constexpr const FieldKind& minute_field = field_kinds[0];
inline constexpr const FieldKind& hour_field = field_kinds[1];
inline constexpr const FieldKind& day_field = field_kinds[2];
inline constexpr const FieldKind& month_field = field_kinds[3];
inline constexpr const FieldKind& weekday_field = field_kinds[4];

// Only these separate fields; newlines do not (RULES C1).
[[nodiscard]] constexpr bool is_blank(char c) {
  return c == ' ' || c == '\t';
}

// The English names of the field's values, beginning with that of `min`; empty except for months
// and weekdays.
[[nodiscard]] std::span<const std::string_view> names_of(Field field);

// Consecutive values.
struct ValueRun {
  unsigned low;
  unsigned high;
};
// The runs of a mask, in increasing order.
[[nodiscard]] std::vector<ValueRun> runs_of(std::uint64_t mask);

// The shortest field of that mask, in increasing order: `*`, or a list such as 1-5,9.
[[nodiscard]] std::string print_field(const FieldKind& kind, std::uint64_t mask);

}  // namespace dutiful
