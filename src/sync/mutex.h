// A mutex that fields are tied to by name. Clang then refuses code that touches such a field
// without the mutex; ./do lint asks it to (-Wthread-safety). Elsewhere it is a std::mutex.
//
//   Mutex mutex_;
//   Condition changed_;
//   int count_ GUARDED_BY(mutex_) = 0;
//
//   Lock lock{mutex_};
//   while (count_ == 0) changed_.wait(lock);  // no predicate: clang does not follow a lambda
//   --count_;
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

#ifdef __clang__
#define DUTIFUL_CHECKED(attribute) __attribute__((attribute))
#else
#define DUTIFUL_CHECKED(attribute)
#endif

// Of a field: only to be touched by whoever holds the mutex.
#define GUARDED_BY(mutex) DUTIFUL_CHECKED(guarded_by(mutex))
// Of a function: only to be called by whoever holds the mutex.
#define REQUIRES(mutex) DUTIFUL_CHECKED(requires_capability(mutex))

namespace dutiful {

class DUTIFUL_CHECKED(capability("mutex")) Mutex {
 private:
  friend class Lock;
  std::mutex mutex_;
};

// Holds a mutex as long as it lives, but for what lies between unlock() and lock().
class DUTIFUL_CHECKED(scoped_lockable) Lock {
 public:
  explicit Lock(Mutex& mutex) DUTIFUL_CHECKED(acquire_capability(mutex)) : lock_(mutex.mutex_) {}
  ~Lock() DUTIFUL_CHECKED(release_capability()) = default;
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

  void lock() DUTIFUL_CHECKED(acquire_capability()) { lock_.lock(); }
  void unlock() DUTIFUL_CHECKED(release_capability()) { lock_.unlock(); }

 private:
  friend class Condition;
  std::unique_lock<std::mutex> lock_;
};

// Something to wait for. It may seem to come when it has not: look again, in a loop.
class Condition {
 public:
  // The mutex is let go meanwhile.
  void wait(Lock& lock);
  // The same, but at most for so long. False if that time has passed.
  bool wait_for(Lock& lock, std::chrono::milliseconds duration);
  void notify_one() noexcept { condition_.notify_one(); }
  void notify_all() noexcept { condition_.notify_all(); }

 private:
  std::condition_variable condition_;
};

}  // namespace dutiful
