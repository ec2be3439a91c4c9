// What a task file asks to be run when a run has ended.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace dutiful {

struct Notifications {
  // Commands, the program first; empty: none.
  std::vector<std::string> on_failure{};
  std::vector<std::string> on_recovery{};
  std::vector<std::string> on_success{};
  // With it, on_failure is run once, at this failure in a row; without it, at every failure.
  std::optional<std::uint32_t> after{};

  friend bool operator==(const Notifications&, const Notifications&) = default;
};

inline constexpr std::uint32_t notify_after_max = 1'000'000;

}  // namespace dutiful
