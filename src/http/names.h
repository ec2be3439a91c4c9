// Names that are compared without regard to case.
#pragma once

#include <algorithm>
#include <string_view>

#include "text/characters.h"

namespace dutiful::http {

[[nodiscard]] inline bool same_name(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, {}, to_lower, to_lower);
}

}  // namespace dutiful::http
