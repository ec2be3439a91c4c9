// Counts allocations and makes them fail, in programs that link this.
#pragma once

#include <cstdint>

namespace dutiful {

// How often any thread has called operator new.
[[nodiscard]] std::uint64_t allocations() noexcept;

// Makes the n-th allocation from now fail, once: 1 is the next, 0 is none. Counts the allocations
// of every thread that is not spared.
void fail_allocation(std::uint64_t n) noexcept;
// Whether that allocation has failed.
[[nodiscard]] bool allocation_failed() noexcept;

// During its life, the allocations of its thread neither count nor fail: those of the test itself.
class SpareAllocations {
 public:
  SpareAllocations() noexcept;
  ~SpareAllocations();
  SpareAllocations(const SpareAllocations&) = delete;
  SpareAllocations& operator=(const SpareAllocations&) = delete;
};

}  // namespace dutiful
