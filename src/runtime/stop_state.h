// How a run is asked to end, and why.
#pragma once

#include <atomic>
#include <stop_token>

#include <dutiful/run.h>

namespace dutiful {

// Shared by the scheduler, which requests the stop, and the run.
class StopState {
 public:
  enum class Limit { none, some };
  explicit StopState(Limit limit)
      : must_end_(limit == Limit::none ? std::stop_source{std::nostopstate} : std::stop_source{}) {}

  // Runs the callbacks that users have registered on the tokens, so the caller must hold no lock.
  // `time_limit` replaces `stopping` as the reason, but not the other way round.
  void request(StopReason reason) {
    if (reason == StopReason::stopping) {
      auto none = static_cast<std::uint8_t>(0);
      reason_.compare_exchange_strong(none, code(reason));
    } else {
      reason_ = code(reason);
      must_end_.request_stop();
    }
    stop_.request_stop();
  }

  [[nodiscard]] std::optional<StopReason> reason() const {
    const std::uint8_t reason = reason_;
    if (reason == 0) return std::nullopt;
    return static_cast<StopReason>(reason - 1);
  }
  [[nodiscard]] std::stop_token stop() const { return stop_.get_token(); }
  [[nodiscard]] std::stop_token must_end() const { return must_end_.get_token(); }

 private:
  static std::uint8_t code(StopReason reason) {
    return static_cast<std::uint8_t>(static_cast<std::uint8_t>(reason) + 1);
  }

  std::atomic<std::uint8_t> reason_ = 0;  // 0: no stop was requested
  std::stop_source stop_;
  std::stop_source must_end_;
};

}  // namespace dutiful
