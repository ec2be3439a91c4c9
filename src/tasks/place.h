// Places in a file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace dutiful {

// A place in a file, counted from 1; columns are characters.
struct Place {
  std::uint32_t line = 1;
  std::uint32_t column = 1;

  friend bool operator==(const Place&, const Place&) = default;
};

// tasks.toml:3:8, as compilers write it.
[[nodiscard]] std::string place_in(const std::string& file, Place place);

// The place of the character at that offset of the text.
[[nodiscard]] Place place_at(std::string_view text, std::size_t offset);

}  // namespace dutiful
