// Cron expressions in plain English.
#pragma once

#include <string>

#include <dutiful/cron.h>

namespace dutiful {

// "At 03:15, Monday through Friday". Says what the schedule means, not how it was written: equal
// schedules read alike. No full stop.
[[nodiscard]] std::string to_english(const CronExpression& cron);

}  // namespace dutiful
