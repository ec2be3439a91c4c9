#include "core/validate.h"

#include <string_view>
#include <unordered_set>

#include <dutiful/cron.h>
#include <dutiful/errors.h>

namespace dutiful {

void validate(std::span<const TaskConfig> list) {
  std::unordered_set<std::string_view> names;
  names.reserve(list.size());
  for (const TaskConfig& config : list) {
    if (config.name.empty()) {
      throw InvalidRegistrationError("name", config.name, "is empty; every task needs one");
    }
    if (!names.insert(config.name).second) throw ScheduleDuplicateTaskError(config.name);
    if (!CronExpression::try_parse(config.cron)) {
      try {
        (void)CronExpression::parse(config.cron);
      } catch (const InvalidCronExpressionError& error) {
        throw CronExpressionInvalidError(error.what(),
                                         error.expression(),
                                         error.field(),
                                         error.reason(),
                                         std::current_exception());
      }
    }
    if (config.retry_delay < Duration::zero()) throw NegativeRetryDelayError(config.retry_delay);
  }
}

}  // namespace dutiful
