// What a signal that asks the daemon to end means, after those that came before it.
#pragma once

#include <chrono>
#include <optional>

namespace dutiful {

// The first one lets commands finish, a second one ends them. But one request may come twice:
// timeout(1) signals its child and then its whole group, and at Ctrl-C a wrapper hands on what the
// terminal has sent to everybody. So the same signal within a moment of the first is the first; who
// wants to insist sends it after that, or sends the other one.
class StopRequests {
 public:
  using Clock = std::chrono::steady_clock;
  enum class Meaning { stop, echo, end };
  static constexpr std::chrono::seconds echo_max{1};

  Meaning take(int signal, Clock::time_point now) {
    if (!first_) {
      first_ = {.signal = signal, .at = now};
      return Meaning::stop;
    }
    return signal == first_->signal && now - first_->at < echo_max ? Meaning::echo : Meaning::end;
  }

 private:
  struct Request {
    int signal;
    Clock::time_point at;
  };
  std::optional<Request> first_;
};

}  // namespace dutiful
