// How much memory the bodies of all responses may use together.
#pragma once

#include <atomic>
#include <cstddef>
#include <optional>
#include <utility>

namespace dutiful::http {

// A body stays in memory until its client has read it, and clients may be slow. Thread-safe.
class BodyBudget {
 public:
  // Bodies of at most `small` bytes are not counted: the number of connections bounds them.
  BodyBudget(std::size_t max, std::size_t small) : max_(max), small_(small) {}

  // Returned when it is destroyed. The budget must outlive it.
  class Share {
   public:
    Share(Share&& other) noexcept
        : budget_(std::exchange(other.budget_, nullptr)), size_(other.size_) {}
    Share& operator=(Share&&) = delete;
    ~Share() {
      if (budget_ != nullptr) budget_->used_ -= size_;
    }

   private:
    friend class BodyBudget;
    Share(BodyBudget* budget, std::size_t size) : budget_(budget), size_(size) {}
    BodyBudget* budget_;
    std::size_t size_;
  };

  // For a body of this size, which exists already. Nothing if the others use all of the budget. A
  // body that is larger than the budget is admitted if there is anything left, so the bodies may
  // exceed it by one for each thread.
  [[nodiscard]] std::optional<Share> take(std::size_t size) {
    if (size <= small_) return Share{nullptr, 0};
    if (used_.fetch_add(size) < max_) return Share{this, size};
    used_ -= size;
    return std::nullopt;
  }

 private:
  const std::size_t max_;
  const std::size_t small_;
  std::atomic<std::size_t> used_{0};
};

}  // namespace dutiful::http
