#include "core/validate.h"

#include <bit>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <dutiful/cron.h>
#include <dutiful/errors.h>
#include <dutiful/limits.h>

namespace dutiful {
namespace {

// The names of a list that have been seen: a hash table with open addressing that holds places in
// the list. It is at most half full, and takes one allocation.
class Names {
 public:
  explicit Names(std::span<const TaskConfig> list)
      : list_(list), slots_(std::bit_ceil(2 * list.size() + 1)) {}

  // Whether it is new. Requires an element of the list.
  bool insert(const TaskConfig& config) {
    const std::size_t hash = std::hash<std::string_view>{}(config.name);
    const auto mark = static_cast<std::uint32_t>(hash >> 32U);
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = hash & mask;
    for (; slots_[at].number != 0; at = (at + 1) & mask) {
      if (slots_[at].mark == mark && list_[slots_[at].number - 1].name == config.name) return false;
    }
    slots_[at] = {mark, static_cast<std::uint32_t>(&config - list_.data()) + 1};
    return true;
  }

 private:
  struct Slot {
    std::uint32_t mark = 0;    // the part of the hash that does not select the slot
    std::uint32_t number = 0;  // the place in the list, from 1; 0: free
  };
  std::span<const TaskConfig> list_;
  std::vector<Slot> slots_;
};

}  // namespace

void validate(std::span<const TaskConfig> list) {
  Names names{list};
  const std::string* valid = nullptr;  // consecutive tasks often have the same expression
  for (const TaskConfig& config : list) {
    if (config.name.empty()) {
      throw InvalidRegistrationError("name", config.name, "is empty; every task needs one");
    }
    if (config.name.size() > task_name_max) {
      throw InvalidRegistrationError(
          "name",
          config.name,
          "is too long; it may have at most " + std::to_string(task_name_max) + " bytes");
    }
    if (!names.insert(config)) throw ScheduleDuplicateTaskError(config.name);
    if (config.cron.size() > cron_text_max) {
      throw InvalidRegistrationError(config.name,
                                     "cronExpression",
                                     config.cron,
                                     "is too long: it has " + std::to_string(config.cron.size()) +
                                         " bytes, and may have at most " +
                                         std::to_string(cron_text_max));
    }
    const bool known = valid != nullptr && *valid == config.cron;
    if (!known && !CronExpression::try_parse(config.cron)) {
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
    valid = &config.cron;
    if (!config.has_callback) {
      throw InvalidRegistrationError(
          config.name, "callback", "null", "is null; register something to call");
    }
    if (config.retry_delay < Duration::zero()) throw NegativeRetryDelayError(config.retry_delay);
    if (config.time_limit < Duration::zero()) {
      const std::string limit = std::to_string(config.time_limit.count());
      throw InvalidRegistrationError(
          config.name,
          "timeLimit",
          limit,
          "is " + limit + " ms; it must not be negative, and 0 means no limit");
    }
  }
}

}  // namespace dutiful
