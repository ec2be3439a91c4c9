// Why there is no occurrence.
#pragma once

#include <string>
#include <string_view>

#include <dutiful/cron.h>

namespace dutiful {

enum class Direction { next, previous };

// The error where there is no occurrence from a time, in ISO 8601. The text is what the expression
// was read from; that of to_string() where it is empty.
[[nodiscard]] CronCalculationError no_occurrence_from(std::string current_time,
                                                      const CronExpression& cron,
                                                      std::string_view text,
                                                      Direction direction);

// The cause that a CronCalculationError names, for an expression that was given as `text`.
[[nodiscard]] std::string no_occurrence(const CronExpression& cron,
                                        std::string_view text,
                                        Direction direction);

}  // namespace dutiful
