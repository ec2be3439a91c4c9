// Why there is no occurrence.
#pragma once

#include <string>
#include <string_view>

#include <dutiful/cron.h>

namespace dutiful {

enum class Direction { next, previous };

// The cause that a CronCalculationError names, for an expression that was given as `text`.
[[nodiscard]] std::string no_occurrence(const CronExpression& cron,
                                        std::string_view text,
                                        Direction direction);

}  // namespace dutiful
