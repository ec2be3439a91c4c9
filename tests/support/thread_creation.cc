#include "support/thread_creation.h"

#include <atomic>
#include <cerrno>

#include <dlfcn.h>
#include <pthread.h>

namespace {
std::atomic<int> left = std::numeric_limits<int>::max();
}  // namespace

void dutiful::ThreadLimit::set(int threads) noexcept {
  left = threads;
}

// Replaces the function of the system and calls it.
extern "C" int pthread_create(pthread_t* thread,
                              const pthread_attr_t* attributes,
                              void* (*work)(void*),
                              void* argument) noexcept {
  int before = left;
  while (before > 0 && !left.compare_exchange_weak(before, before - 1)) {
  }
  if (before <= 0) return EAGAIN;
  static const auto create =
      reinterpret_cast<decltype(&pthread_create)>(dlsym(RTLD_NEXT, "pthread_create"));
  return create(thread, attributes, work, argument);
}
