// The files of the page, which are a part of the program.
#pragma once

#include <span>
#include <string_view>

namespace dutiful::page {

struct Asset {
  std::string_view name;
  std::string_view type;  // for the header Content-Type
  std::string_view content;
};

// In the order of their names.
[[nodiscard]] std::span<const Asset> assets();

// Another one if any file differs, so that browsers may keep the files of a version for ever.
[[nodiscard]] std::string_view version();

}  // namespace dutiful::page
