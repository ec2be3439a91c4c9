// Memory first, changes after: who makes room before it changes anything need not undo it (X3).
#pragma once

#include <algorithm>
#include <vector>

namespace dutiful {

// So many elements can be added without an allocation. Grows as push_back() does.
template <typename T>
void make_room(std::vector<T>& vector, std::size_t count = 1) {
  const std::size_t needed = vector.size() + count;
  if (vector.capacity() < needed) vector.reserve(std::max(needed, 2 * vector.capacity()));
}

}  // namespace dutiful
