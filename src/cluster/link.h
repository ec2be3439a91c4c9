// One connection of a member to the database, with at most one request on its way.
#pragma once

#include <algorithm>

#include "cluster/boot_time.h"

namespace dutiful::cluster {

class Link {
 public:
  [[nodiscard]] bool may_connect(BootTime now) const {
    return state_ == State::down && next_try_ <= now;
  }
  [[nodiscard]] bool may_send() const { return state_ == State::up && !waiting_; }
  [[nodiscard]] bool waits() const { return waiting_; }
  [[nodiscard]] BootTime sent() const { return since_; }

  void connect(BootTime now) {
    state_ = State::connecting;
    since_ = now;
  }
  void connected() { state_ = State::up; }
  void send(BootTime now) {
    waiting_ = true;
    since_ = now;
  }
  void answered() {
    waiting_ = false;
    delay_ = delay_min;
  }
  // The connection has broken, or is given up.
  void break_off(BootTime now) {
    state_ = State::down;
    waiting_ = false;
    next_try_ = now + delay_;
    delay_ = std::min(2 * delay_, delay_max);
  }

  // Whether the answer, or the connection, has taken too long.
  [[nodiscard]] bool is_overdue(BootTime now, Duration patience) const {
    return (waiting_ || state_ == State::connecting) && now >= since_ + patience;
  }
  // When one of the above changes by itself.
  [[nodiscard]] BootTime next_wake(Duration patience) const {
    if (waiting_ || state_ == State::connecting) return since_ + patience;
    return state_ == State::down ? next_try_ : BootTime::max();
  }

 private:
  friend class Digest;

  enum class State : std::uint8_t { down, connecting, up };
  static constexpr Duration delay_min{50};
  static constexpr Duration delay_max{1000};

  State state_ = State::down;
  bool waiting_ = false;
  BootTime since_{};  // it waits, for the answer or for the connection
  BootTime next_try_ = BootTime::min();
  Duration delay_ = delay_min;
};

}  // namespace dutiful::cluster
