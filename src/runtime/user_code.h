// Whether the current thread is inside code that the user of a scheduler gave it.
#pragma once

namespace dutiful {

// While it lives, the thread that made it is inside such code: a callback, its destructor, a stop
// callback, or a preparation. A call of the same scheduler from there would wait for itself, and
// has to be refused.
//
//   const UserCode inside{this, UserCode::Kind::callback};
//   callback();
class UserCode {
 public:
  enum class Kind {
    callback,     // also its destructor, and a stop callback
    preparation,  // Options::prepare
  };

  // A scheduler is known by any address that is unique to it.
  UserCode(const void* scheduler, Kind kind) noexcept;
  ~UserCode();
  UserCode(const UserCode&) = delete;
  UserCode& operator=(const UserCode&) = delete;

  // Whether this thread is inside code of that scheduler, of any kind or of the given one.
  [[nodiscard]] static bool is_inside(const void* scheduler) noexcept;
  [[nodiscard]] static bool is_inside(const void* scheduler, Kind kind) noexcept;

 private:
  static thread_local const UserCode* innermost;

  const void* scheduler_;
  Kind kind_;
  const UserCode* outer_;
};

}  // namespace dutiful
