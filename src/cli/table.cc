#include "cli/table.h"

#include <algorithm>
#include <functional>
#include <ostream>

#include "text/characters.h"

namespace dutiful {
namespace {

// Wider cells do not widen their column.
constexpr std::size_t width_max = 40;

std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, std::not_fn(is_continuation)));
}

}  // namespace

void Table::print(std::ostream& out) const {
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    std::size_t width = width_of(columns_[i].title);
    for (const auto& row : rows_) width = std::max(width, std::min(width_of(row[i]), width_max));
    widths.push_back(width);
  }
  const auto print_line = [&](auto cell_of) {
    std::string line;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const std::string& cell = cell_of(i);
      const std::string padding(std::max(widths[i], width_of(cell)) - width_of(cell), ' ');
      line += i == 0 ? "" : "  ";
      line += columns_[i].align == Align::right ? padding + cell : cell + padding;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out << line << '\n';
  };
  print_line([&](std::size_t i) -> const std::string& { return columns_[i].title; });
  for (const auto& row : rows_) {
    print_line([&](std::size_t i) -> const std::string& { return row[i]; });
  }
}

}  // namespace dutiful
