// A priority queue of instants, the earliest first.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include <dutiful/time.h>

#include "core/make_room.h"

namespace dutiful {

struct Entry {
  Instant at;
  std::uint32_t rank;  // orders entries of the same instant
  std::uint32_t id;

  [[nodiscard]] bool precedes(const Entry& other) const {
    return at != other.at ? at < other.at : rank < other.rank;
  }
};

// Entries are not removed from the middle. The owner ignores an entry that is stale when it reaches
// the front, and compacts the queue before stale entries outnumber the others.
class EntryQueue {
 public:
  [[nodiscard]] bool empty() const { return heap_.empty(); }
  [[nodiscard]] std::size_t size() const { return heap_.size(); }
  // Requires an entry.
  [[nodiscard]] const Entry& front() const { return heap_.front(); }

  // After this, `count` calls of push() need no memory.
  void make_room(std::size_t count = 1) { dutiful::make_room(heap_, count); }

  void push(const Entry& entry) {
    heap_.push_back(entry);
    std::push_heap(heap_.begin(), heap_.end(), follows);
  }

  // Requires an entry.
  Entry pop() {
    std::pop_heap(heap_.begin(), heap_.end(), follows);
    const Entry entry = heap_.back();
    heap_.pop_back();
    return entry;
  }

  void clear() { heap_.clear(); }

  template <typename IsStale>
  void compact(IsStale is_stale) {
    std::erase_if(heap_, is_stale);
    std::make_heap(heap_.begin(), heap_.end(), follows);
  }

 private:
  static constexpr auto follows = [](const Entry& a, const Entry& b) { return b.precedes(a); };

  std::vector<Entry> heap_;
};

}  // namespace dutiful
