// A first-in-first-out list whose elements hold the links, so that adding one needs no memory.
#pragma once

#include <memory>
#include <utility>

namespace dutiful {

// T has a member `std::shared_ptr<T> next`, which belongs to the queue that the element is in.
template <typename T>
class Queue {
 public:
  Queue() = default;
  Queue(Queue&& other) noexcept
      : first_(std::move(other.first_)),
        last_(std::exchange(other.last_, nullptr)),
        size_(std::exchange(other.size_, 0)) {}
  Queue& operator=(Queue&&) = delete;
  // One by one: destroying the first would destroy the whole chain recursively.
  ~Queue() { clear(); }

  [[nodiscard]] bool empty() const noexcept { return first_ == nullptr; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] T& front() noexcept { return *first_; }

  void push(std::shared_ptr<T> item) noexcept {
    T* const added = item.get();
    (last_ == nullptr ? first_ : last_->next) = std::move(item);
    last_ = added;
    ++size_;
  }

  std::shared_ptr<T> pop() noexcept {
    std::shared_ptr<T> item = std::move(first_);
    first_ = std::move(item->next);
    if (first_ == nullptr) last_ = nullptr;
    --size_;
    return item;
  }

  // Moves all elements of the other queue to the end of this one.
  void append(Queue&& other) noexcept {
    if (other.empty()) return;
    (last_ == nullptr ? first_ : last_->next) = std::move(other.first_);
    last_ = std::exchange(other.last_, nullptr);
    size_ += std::exchange(other.size_, 0);
  }

  void clear() noexcept {
    while (!empty()) pop();
  }

 private:
  std::shared_ptr<T> first_;
  T* last_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace dutiful
