// Why there is no occurrence.
#pragma once

#include <string>
#include <string_view>

#include <dutiful/cron.h>

namespace dutiful {

enum class Direction { next, previous };

// The error for an expression that has no occurrence from a time, which is in ISO 8601. The text is
// what the expression was read from; if it is empty, to_string() is used.
[[nodiscard]] CronCalculationError no_occurrence_from(std::string current_time,
                                                      const CronExpression& cron,
                                                      std::string_view text,
                                                      Direction direction);

// The cause that a CronCalculationError names, for an expression that was given as `text`.
[[nodiscard]] std::string no_occurrence(const CronExpression& cron,
                                        std::string_view text,
                                        Direction direction);

}  // namespace dutiful
