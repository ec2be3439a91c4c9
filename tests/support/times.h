// Times in tests, written as people write them.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include <dutiful/time.h>

#include "time/iso8601.h"

namespace dutiful {

inline Timestamp timestamp(std::string_view text) {
  const auto parsed = parse_timestamp(text);
  if (!parsed) throw std::invalid_argument("not a time: " + std::string{text});
  return *parsed;
}

// at("2025-11-02T01:30:00-04:00")
inline Instant at(std::string_view text) {
  const Timestamp parsed = timestamp(text);
  return parsed.instant(parsed.offset.value());
}

// civil("2025-11-02T01:30")
inline CivilMinute civil(std::string_view text) {
  return std::chrono::floor<std::chrono::minutes>(timestamp(text).local);
}

}  // namespace dutiful
