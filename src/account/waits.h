// Why a scheduler that ran did not start what was due.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "account/fates.h"
#include "time/no_instant.h"

namespace dutiful {

// The past of one scheduler, as consecutive stretches of time with one reason each. The reason is
// `limit`, `store`, or `asleep`: a scheduler that is awake, and has no other reason, starts what is
// due. Needs no memory: if there are too many stretches, the older half is forgotten, and the
// oldest of the rest stands for it.
class Waits {
 public:
  // From `now` on, this is the reason.
  void note(Fate reason, Instant now) noexcept {
    // If the clock was set back, what is later has not happened.
    while (size_ > 1 && newest().from >= now) --size_;
    if (newest().reason == reason) return;
    if (size_ == stretches_.size()) {
      std::shift_left(stretches_.begin(), stretches_.end(), half);
      size_ -= half;
      stretches_.front().from = no_instant;
    }
    stretches_[size_++] = {now, reason};
  }

  // Calls visit(after, until, reason) for the parts of (after, until], in their order.
  void for_each(Instant after, Instant until, auto visit) const {
    for (std::size_t i = 0; i < size_ && after < until; ++i) {
      const bool is_last = i + 1 == size_;
      const Instant end = is_last ? until : std::min(until, stretches_[i + 1].from - Duration{1});
      if (end <= after) continue;
      visit(after, end, stretches_[i].reason);
      after = end;
    }
  }

 private:
  struct Stretch {
    Instant from = no_instant;
    Fate reason = Fate::asleep;
  };
  [[nodiscard]] const Stretch& newest() const { return stretches_[size_ - 1]; }

  static constexpr int half = 64;
  std::array<Stretch, 2UL * half> stretches_{};
  std::size_t size_ = 1;
};

}  // namespace dutiful
