// Decides when to report that the history cannot be written, and that it can be written again.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace dutiful {

// A failure is reported once, and again if its reason changes or runs are lost. It is reported at
// most once a minute, so that a disk that fails on and off does not flood the log. A report that
// was held back is made when the minute has passed, if it is still true.
class HistoryTrouble {
 public:
  using Time = std::chrono::steady_clock::time_point;
  static constexpr std::chrono::minutes quiet{1};

  // The history cannot be written for that reason, and `lost` runs are lost and not yet reported.
  [[nodiscard]] bool should_report(std::string_view reason, std::size_t lost, Time now) const {
    if (quiet_until_ && now < *quiet_until_) return false;
    return !reported_ || reason != *reported_ || lost > 0;
  }
  void set_reported(std::string reason, Time now) {
    reported_ = std::move(reason);
    quiet_until_ = now + quiet;
  }

  // The history works again. Returns whether to report it: if the failure was reported, or if runs
  // are lost.
  [[nodiscard]] bool recover(std::size_t lost) {
    return std::exchange(reported_, std::nullopt).has_value() || lost > 0;
  }

 private:
  std::optional<std::string> reported_;  // the reason, while it fails
  std::optional<Time> quiet_until_;
};

}  // namespace dutiful
