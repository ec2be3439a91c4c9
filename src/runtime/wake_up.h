// Wakes a thread that waits in poll().
#pragma once

namespace dutiful {

class WakeUp {
 public:
  WakeUp();
  ~WakeUp();
  WakeUp(const WakeUp&) = delete;
  WakeUp& operator=(const WakeUp&) = delete;

  // From any thread: makes the descriptor readable, until taken.
  void ring() noexcept;
  void take() noexcept;
  [[nodiscard]] int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
};

}  // namespace dutiful
