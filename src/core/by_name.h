// Sorts items by name without moving them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

namespace dutiful {

// The indices of the items in the byte order of their names.
//
// The names of a list often share a prefix. The prefix is skipped, and the eight bytes after it are
// compared as a number, which nearly always decides without touching the texts.
template <typename T, typename NameOf>
[[nodiscard]] std::vector<std::uint32_t> order_by_name(const std::vector<T>& items,
                                                       NameOf name_of) {
  std::vector<std::uint32_t> order(items.size());
  std::iota(order.begin(), order.end(), 0U);
  const auto name_at = [&](std::uint32_t i) -> std::string_view { return name_of(items[i]); };
  if (std::ranges::is_sorted(order, {}, name_at)) return order;

  std::string_view common = name_at(0);
  for (const std::uint32_t i : order) {
    const std::string_view name = name_at(i);
    const auto differ = std::ranges::mismatch(common, name).in1;
    common = common.substr(0, static_cast<std::size_t>(differ - common.begin()));
  }

  struct Key {
    std::uint64_t bytes;
    std::uint32_t place;
  };
  std::vector<Key> keys;
  keys.reserve(items.size());
  for (const std::uint32_t i : order) {
    const std::string_view rest = name_at(i).substr(common.size());
    std::uint64_t bytes = 0;
    for (std::size_t k = 0; k < 8; ++k) {
      bytes = bytes << 8U | (k < rest.size() ? static_cast<unsigned char>(rest[k]) : 0U);
    }
    keys.push_back({bytes, i});
  }
  std::ranges::sort(keys, [&](const Key& a, const Key& b) {
    return a.bytes != b.bytes ? a.bytes < b.bytes : name_at(a.place) < name_at(b.place);
  });
  std::ranges::transform(keys, order.begin(), &Key::place);
  return order;
}

}  // namespace dutiful
