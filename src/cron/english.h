// Cron expressions in plain English.
#pragma once

#include <string>

#include <dutiful/cron.h>

namespace dutiful {

// "At 03:15, Monday through Friday". Describes the schedule, not its text: equal schedules have
// equal descriptions. No full stop.
[[nodiscard]] std::string to_english(const CronExpression& cron);

}  // namespace dutiful
