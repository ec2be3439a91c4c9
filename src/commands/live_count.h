// How many commands wait or run.
#pragma once

#include <atomic>
#include <cstddef>
#include <utility>

namespace dutiful {

// Safe to use from any thread. Must outlive its members.
class LiveCount {
 public:
  // Counts until it leaves, is moved from or is destroyed.
  class Member {
   public:
    Member() noexcept = default;
    explicit Member(LiveCount& all) noexcept : all_(&all) { ++all.count_; }
    ~Member() { leave(); }
    Member(Member&& other) noexcept : all_(std::exchange(other.all_, nullptr)) {}
    Member& operator=(Member&& other) noexcept {
      leave();
      all_ = std::exchange(other.all_, nullptr);
      return *this;
    }

    void leave() noexcept {
      if (LiveCount* const all = std::exchange(all_, nullptr)) --all->count_;
    }

   private:
    LiveCount* all_ = nullptr;
  };

  [[nodiscard]] bool is_zero() const noexcept { return count_ == 0; }

 private:
  std::atomic<std::size_t> count_ = 0;
};

}  // namespace dutiful
