// Decides what a stop signal means, given the earlier ones.
#pragma once

#include <chrono>
#include <optional>

namespace dutiful {

// The first signal lets commands finish; a second one terminates them. But one request may arrive
// twice: timeout(1) signals its child and then its whole group, and at Ctrl-C a wrapper forwards
// the signal that the terminal has already sent to every process. So the same signal within a
// second of the first is a duplicate. A user who insists sends it later, or sends the other signal.
class StopSignals {
 public:
  using Clock = std::chrono::steady_clock;
  enum class Meaning { stop, duplicate, terminate };
  static constexpr std::chrono::seconds duplicate_max{1};

  Meaning take(int signal, Clock::time_point now) {
    if (!first_) {
      first_ = {.signal = signal, .at = now};
      return Meaning::stop;
    }
    const bool is_duplicate = signal == first_->signal && now - first_->at < duplicate_max;
    return is_duplicate ? Meaning::duplicate : Meaning::terminate;
  }

 private:
  struct Request {
    int signal;
    Clock::time_point at;
  };
  std::optional<Request> first_;
};

}  // namespace dutiful
