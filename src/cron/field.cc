#include "cron/field.h"

#include <bit>

namespace dutiful {
namespace {

constexpr std::array<std::string_view, 12> months{"January",
                                                  "February",
                                                  "March",
                                                  "April",
                                                  "May",
                                                  "June",
                                                  "July",
                                                  "August",
                                                  "September",
                                                  "October",
                                                  "November",
                                                  "December"};
constexpr std::array<std::string_view, 7> weekdays{
    "Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"};

}  // namespace

std::span<const std::string_view> names_of(Field field) {
  if (field == Field::month) return months;
  if (field == Field::weekday) return weekdays;
  return {};
}

std::vector<ValueRun> runs_of(std::uint64_t mask) {
  std::vector<ValueRun> runs;
  while (mask != 0) {
    const auto low = static_cast<unsigned>(std::countr_zero(mask));
    const auto high = low + static_cast<unsigned>(std::countr_one(mask >> low)) - 1;
    mask &= ~FieldKind::mask(low, high);
    runs.push_back({low, high});
  }
  return runs;
}

std::string print_field(const FieldKind& kind, std::uint64_t mask) {
  if (mask == kind.all()) return "*";
  std::string out;
  for (const auto& [low, high] : runs_of(mask)) {
    if (!out.empty()) out += ',';
    out += std::to_string(low);
    if (high > low) out.append(high == low + 1 ? "," : "-").append(std::to_string(high));
  }
  return out;
}

}  // namespace dutiful
