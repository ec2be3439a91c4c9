#include "support/allocations.h"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<std::uint64_t> count = 0;
std::atomic<std::uint64_t> until_failure = 0;  // 0: none fails
std::atomic<bool> failed = false;
thread_local int spared = 0;

bool is_to_fail() noexcept {
  if (spared > 0) return false;
  std::uint64_t left = until_failure;
  while (left > 0 && !until_failure.compare_exchange_weak(left, left - 1)) {
  }
  if (left != 1) return false;
  failed = true;
  return true;
}

void* allocate(std::size_t size) noexcept {
  count.fetch_add(1, std::memory_order_relaxed);
  return is_to_fail() ? nullptr : std::malloc(size == 0 ? 1 : size);
}

}  // namespace

std::uint64_t dutiful::allocations() noexcept {
  return count;
}

void dutiful::fail_allocation(std::uint64_t n) noexcept {
  failed = false;
  until_failure = n;
}
bool dutiful::allocation_failed() noexcept {
  return failed;
}

dutiful::SpareAllocations::SpareAllocations() noexcept {
  ++spared;
}
dutiful::SpareAllocations::~SpareAllocations() {
  --spared;
}

void* operator new(std::size_t size) {
  if (void* memory = allocate(size)) return memory;
  throw std::bad_alloc();
}
void* operator new(std::size_t size, const std::nothrow_t& /*tag*/) noexcept {
  return allocate(size);
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t /*size*/) noexcept {
  std::free(memory);
}
