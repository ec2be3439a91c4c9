// When to tell that the history cannot be written, and that it can again.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace dutiful {

// A failure is told once; again when its reason changes or runs are lost; and never twice in a
// minute, so that a disk that fails by turns does not flood the log. What has not been told is told
// when the minute is over, if it still holds then.
class HistoryTrouble {
 public:
  using Time = std::chrono::steady_clock::time_point;
  static constexpr std::chrono::minutes quiet{1};

  // It fails for that reason, and so many runs are lost that nobody was told of.
  [[nodiscard]] bool is_news(std::string_view reason, std::size_t lost, Time now) const {
    if (quiet_until_ && now < *quiet_until_) return false;
    return !told_ || reason != *told_ || lost > 0;
  }
  void tell(std::string reason, Time now) {
    told_ = std::move(reason);
    quiet_until_ = now + quiet;
  }

  // It works again. Whether to tell: if its failure was told, or if there is a loss to tell of.
  [[nodiscard]] bool end(std::size_t lost) {
    return std::exchange(told_, std::nullopt).has_value() || lost > 0;
  }

 private:
  std::optional<std::string> told_;  // the reason, while it fails
  std::optional<Time> quiet_until_;
};

}  // namespace dutiful
