// The five fields of a cron expression.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace dutiful {

// A field's name (RULES C6) and its values (RULES C2).
struct FieldKind {
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
    {"minute", 0, 59},
    {"hour", 0, 23},
    {"day", 1, 31},
    {"month", 1, 12},
    {"weekday", 0, 6},
}};
inline constexpr const FieldKind& minute_field = field_kinds[0];
inline constexpr const FieldKind& hour_field = field_kinds[1];
inline constexpr const FieldKind& day_field = field_kinds[2];
inline constexpr const FieldKind& month_field = field_kinds[3];
inline constexpr const FieldKind& weekday_field = field_kinds[4];

// What separates fields. Nothing else does, newlines included (RULES C1).
[[nodiscard]] constexpr bool is_blank(char c) {
  return c == ' ' || c == '\t';
}

// The shortest field of that mask, in increasing order: `*`, or a list such as 1-5,9.
[[nodiscard]] std::string print_field(const FieldKind& kind, std::uint64_t mask);

}  // namespace dutiful
