#include "runtime/user_code.h"

#include <utility>

namespace dutiful {

thread_local const UserCode* UserCode::innermost = nullptr;

UserCode::UserCode(const void* scheduler, Kind kind) noexcept
    : scheduler_(scheduler), kind_(kind), outer_(std::exchange(innermost, this)) {}

UserCode::~UserCode() {
  innermost = outer_;
}

bool UserCode::is_inside(const void* scheduler) noexcept {
  return is_inside(scheduler, Kind::callback) || is_inside(scheduler, Kind::preparation);
}

// Users may nest schedulers: a callback of one may initialize or stop another.
bool UserCode::is_inside(const void* scheduler, Kind kind) noexcept {
  const UserCode* code = innermost;
  while (code != nullptr && (code->scheduler_ != scheduler || code->kind_ != kind)) {
    code = code->outer_;
  }
  return code != nullptr;
}

}  // namespace dutiful
