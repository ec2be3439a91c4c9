// An instant that is not there.
#pragma once

#include <optional>

#include <dutiful/time.h>

namespace dutiful {

// Stands for an instant that did not happen or is not going to.
inline constexpr Instant no_instant = Instant::min();

[[nodiscard]] constexpr std::optional<Instant> happened(Instant instant) {
  return instant == no_instant ? std::nullopt : std::optional{instant};
}

}  // namespace dutiful
