// Why a text is not a cron expression and what to write instead.
#pragma once

#include <string_view>

#include <dutiful/cron.h>

namespace dutiful {

// The fault of a text that CronExpression::try_parse() rejects: the number of fields first, then
// the fields from left to right (RULES C3, C6). Requires the text to be rejected.
[[nodiscard]] InvalidCronExpressionError::Details diagnose(std::string_view text);

}  // namespace dutiful
