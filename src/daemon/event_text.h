// Events for people: one line each.
#pragma once

#include <string>

#include <dutiful/zone.h>

#include "events/catalogue.h"

namespace dutiful {

enum class Colour { none, ansi };

// 2025-03-03 10:00:00  backup  failed after 1.2 s: exit status 1; retry at 10:05:01
[[nodiscard]] std::string to_text(const TypedEvent& event, const Zone& zone, Colour colour);

// 850 ms, 1.2 s, 3 min 20 s, 2 h 5 min, 3 d 4 h
[[nodiscard]] std::string duration_text(Duration duration);

}  // namespace dutiful
