// A mutex that names the fields it guards. With clang, code that uses such a field without holding
// the mutex does not compile (-Wthread-safety, in ./do lint). Otherwise it is a std::mutex.
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

// A field: may be used only while the mutex is held.
#define GUARDED_BY(mutex) DUTIFUL_CHECKED(guarded_by(mutex))
// A function: may be called only while the mutex is held.
#define REQUIRES(mutex) DUTIFUL_CHECKED(requires_capability(mutex))

namespace dutiful {

class DUTIFUL_CHECKED(capability("mutex")) Mutex {
 public:
  // Tells clang that the caller holds it: in a lambda, which clang does not follow.
  void assert_held() const DUTIFUL_CHECKED(assert_capability(this)) {}

 private:
  friend class Lock;
  std::mutex mutex_;
};

// Holds a mutex as long as it lives, except between unlock() and lock().
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

// A condition variable. A wait may return without a reason: wait in a loop that checks one.
class Condition {
 public:
  // Releases the mutex while it waits.
  void wait(Lock& lock);
  // The same, until the deadline at the latest. Returns false if that has passed.
  bool wait_until(Lock& lock, std::chrono::steady_clock::time_point deadline);
  void notify_one() noexcept { condition_.notify_one(); }
  void notify_all() noexcept { condition_.notify_all(); }

 private:
  std::condition_variable condition_;
};

}  // namespace dutiful
