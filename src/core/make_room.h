// Memory first, changes second: then running out of memory leaves nothing to undo (X3).
#pragma once

#include <algorithm>
#include <vector>

namespace dutiful {

// After this, `count` elements can be added without an allocation. Grows as push_back() does.
template <typename T>
void make_room(std::vector<T>& vector, std::size_t count = 1) {
  const std::size_t needed = vector.size() + count;
  if (vector.capacity() < needed) vector.reserve(std::max(needed, 2 * vector.capacity()));
}

}  // namespace dutiful
