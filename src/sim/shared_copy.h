// A value whose copies share it until one of them changes.
#pragma once

#include <memory>
#include <utility>

namespace dutiful {

// For a search, which copies a state for each step and changes a part of it. Not for threads.
template <typename T>
class SharedCopy {
 public:
  explicit SharedCopy(T value) : value_(std::make_shared<T>(std::move(value))) {}

  [[nodiscard]] const T& operator*() const { return *value_; }
  [[nodiscard]] const T* operator->() const { return value_.get(); }
  [[nodiscard]] T& write() {
    if (value_.use_count() > 1) value_ = std::make_shared<T>(*value_);
    return *value_;
  }

 private:
  std::shared_ptr<T> value_;
};

}  // namespace dutiful
