#include "cron/field.h"

#include <bit>

namespace dutiful {

std::string print_field(const FieldKind& kind, std::uint64_t mask) {
  if (mask == kind.all()) return "*";
  std::string out;
  while (mask != 0) {
    const auto low = static_cast<unsigned>(std::countr_zero(mask));
    const auto high = low + static_cast<unsigned>(std::countr_one(mask >> low)) - 1;
    mask &= ~FieldKind::mask(low, high);
    if (!out.empty()) out += ',';
    out += std::to_string(low);
    if (high == low + 1) out.append(",").append(std::to_string(high));
    if (high > low + 1) out.append("-").append(std::to_string(high));
  }
  return out;
}

}  // namespace dutiful
