#include "tasks/place.h"

#include <algorithm>
#include <functional>

#include "text/characters.h"

namespace dutiful {

std::string place_in(const std::string& file, Place place) {
  return file + ':' + std::to_string(place.line) + ':' + std::to_string(place.column);
}

Place place_at(std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, offset);
  const std::string_view line = before.substr(before.rfind('\n') + 1);
  const auto newlines = std::ranges::count(before, '\n');
  const auto characters = std::ranges::count_if(line, std::not_fn(is_continuation));
  return {.line = static_cast<std::uint32_t>(newlines + 1),
          .column = static_cast<std::uint32_t>(characters + 1)};
}

}  // namespace dutiful
