// Counts what `new` hands out, and lets it fail, in programs that link this.
#pragma once

#include <cstdint>

namespace dutiful {

// How often operator new has been called so far, by any thread.
[[nodiscard]] std::uint64_t allocations() noexcept;

// Lets the n-th allocation from now on fail, once: 1 is the next, 0 none. Counts those of every
// thread that is not spared.
void fail_allocation(std::uint64_t n) noexcept;
// Whether it has failed since.
[[nodiscard]] bool allocation_failed() noexcept;

// While one lives, its thread's allocations do not count and do not fail: those of a test's own.
class SpareAllocations {
 public:
  SpareAllocations() noexcept;
  ~SpareAllocations();
  SpareAllocations(const SpareAllocations&) = delete;
  SpareAllocations& operator=(const SpareAllocations&) = delete;
};

}  // namespace dutiful
